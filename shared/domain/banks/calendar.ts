import { oneOf } from '../text.ts'
import { type Day, dayAfter, startOf } from '../time.ts'

/** The days on which banks pay providers (docs/settlement.md#payout-days). Days are UTC days, as in Accra. */

export const PayoutDays = oneOf(['all', 'working'])

/** The public holidays of a year, by day, with their names. */
export type Calendar = { year: string; days: Record<Day, string> }

export type Holidays = ReadonlySet<Day>

export const yearOf = (day: Day): string => day.slice(0, 4)

export const yearAfter = (day: Day): string => String(Number(yearOf(day)) + 1)

const WEEKEND: readonly number[] = [0, 6]

export const isWorkingDay = (day: Day, holidays: Holidays): boolean =>
  !WEEKEND.includes(startOf(day).getUTCDay()) && !holidays.has(day)

/** Returns the first working day from a day on. */
export const firstWorkingDay = (from: Day, holidays: Holidays): Day => {
  let day = from
  while (!isWorkingDay(day, holidays)) day = dayAfter(day)
  return day
}

/** Returns a calendar with a holiday; undefined as its name removes it. */
export const withDay = (calendar: Calendar, day: Day, name: string | undefined): Calendar => {
  const { [day]: _, ...others } = calendar.days
  return { ...calendar, days: name === undefined ? others : { ...others, [day]: name } }
}
