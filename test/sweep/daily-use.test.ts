import { expect, test } from 'vitest'
import { isUseDue } from '../../shared/sweep/daily-use.ts'

const at = (time: string): Date => new Date(`2026-11-27T${time}.000Z`)

test.each([
  ['the first one', undefined, '12:00:00', true],
  ['the next one', '12:00:00', '12:01:00', false],
  ['the last one before ten minutes are over', '12:00:00', '12:09:59', false],
  ['the first one of the next ten minutes', '12:09:00', '12:10:00', true],
  ['one after a pause of the sweep', '12:03:00', '12:17:00', true],
])('a run of the sweep, %s, compares the use of providers if it is due', (_, last, now, isDue) => {
  expect(isUseDue(last === undefined ? undefined : at(last), at(now))).toBe(isDue)
})
