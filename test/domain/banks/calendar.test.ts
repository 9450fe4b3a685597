import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Calendar, firstWorkingDay, withDay } from '../../../shared/domain/banks/calendar.ts'
import { type Day, dayAfter, startOf } from '../../../shared/domain/time.ts'

const weekdays = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' })

const weekdayOf = (day: Day): string => weekdays.format(startOf(day))

test('a changed holiday keeps the members that a later version wrote', () => {
  const calendar = { year: '2026', days: {}, addedLater: 'x' } as Calendar
  const day = '2026-03-06' as Day
  const added = withDay(calendar, day, 'Independence Day')
  expect(added).toEqual({ ...calendar, days: { [day]: 'Independence Day' } })
  expect(withDay(added, day, undefined)).toEqual(calendar)
})

test('the payout day is the first working day from the day after the run on, in 10,000 calendars', () => {
  const FIRST = '2026-01-01' as Day
  const day = fc.integer({ min: 0, max: 800 }).map((days) => dayAfter(FIRST, days))
  const holidays = fc.array(fc.tuple(day, fc.integer({ min: 1, max: 12 })), { maxLength: 40 })
  const calendars = holidays.map(
    (periods) =>
      new Set(
        periods.flatMap(([first, length]) =>
          Array.from({ length }, (_, index) => dayAfter(first, index)),
        ),
      ),
  )
  fc.assert(
    fc.property(day, calendars, (from, holidays) => {
      const payOn = firstWorkingDay(from, holidays)
      const isFree = (one: Day) => /Sat|Sun/.test(weekdayOf(one)) || holidays.has(one)
      expect(payOn >= from && !isFree(payOn)).toBe(true)
      for (let one = from; one < payOn; one = dayAfter(one)) expect(isFree(one)).toBe(true)
    }),
    { numRuns: 10_000, seed: 20261127 },
  )
})
