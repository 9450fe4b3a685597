import { expect, test } from 'vitest'
import type { Day } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { put } from '../../shared/store/table.ts'
import { checkDailyUse, isUseDue } from '../../shared/sweep/daily-use.ts'
import { providerId } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { useFreshTable } from '../support/tables.ts'

process.env.AWS_LAMBDA_LOG_LEVEL = 'WARN'
const { clear, lines } = captureOutput()

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

test('the last minutes of a day are compared after midnight, until the failures of its debits are counted', async () => {
  await useFreshTable()
  const provider = providerId('busy')
  const counted = { '2026-10-28': 300, '2026-11-25': 10, '2026-11-26': 700, '2026-11-27': 600 }
  for (const [day, charges] of Object.entries(counted)) {
    await put(keys.dayTotal(provider, day as Day), 'count', { charges })
  }
  const daysAt = async (previous: Date | undefined, now: string) => {
    clear()
    await checkDailyUse([provider], { previous, now: at(now) })
    return lines().map(({ date, count, busiest }) => [date, count, busiest])
  }
  const yesterday = [['2026-11-26', 700, 10]]
  expect(await daysAt(new Date('2026-11-26T23:59:40Z'), '00:02:30')).toEqual(yesterday)
  expect(await daysAt(at('00:09:40'), '00:12:30')).toEqual(yesterday)
  expect(await daysAt(at('00:29:40'), '00:32:30')).toEqual([])
  expect(await daysAt(undefined, '00:02:30')).toEqual([])
  expect(await daysAt(new Date('2026-11-25T12:00:00Z'), '00:02:30')).toEqual(yesterday)
})
