import { beforeEach, expect, test } from 'vitest'
import type { Day } from '../../shared/domain/time.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { put } from '../../shared/store/table.ts'
import { pendingDebit } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  demo,
  differencesOn,
  exampleDay,
  other,
  overwrite,
  putProviders,
  reconcileLater,
  settle,
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

beforeEach(useFreshTable)

const checkedOn = async (date: Day) => {
  const { invariants } = await reconcileLater(date)
  return Object.fromEntries(invariants.map(({ number, checked }) => [number, checked]))
}

test('a day counts its checked items and sums the money of its completed debits', async () => {
  await exampleDay()
  // Six debits of two providers. One provider subscribes to three of the events.
  const expected = { 1: 6, 4: 6, 5: 6, 6: 6, 9: 6, 10: 6, 12: 6, 13: 3, 15: 3 }
  const checked = await checkedOn(TODAY)
  expect(checked).toMatchObject({ ...expected, 20: 1, 22: 4, 25: 4, 27: 1, 31: 1 })
  // Three lines, and four debits of the day before.
  expect(await checkedOn(TOMORROW)).toMatchObject({ 1: 0, 22: 7, 23: 3, 24: 2, 26: 2, 29: 3 })
  expect(await checkedOn(DAY_AFTER)).toMatchObject({ 24: 3, 26: 3, 27: 2 })
  const { money } = await reconcileLater(TODAY)
  const totals = { completed: 400_00n, settled: 300_00n, unsettled: 0n, reversed: 100_00n }
  expect(money).toEqual(totals)
})

/** Work in progress, the last time without a difference, and the invariant after it. */
const inProgress: [string, plant: () => Promise<unknown>, Date, Date, number][] = [
  [
    'a completed debit until the end of the next run',
    () => completed({ provider: other }),
    at(TOMORROW, '01:59:59'),
    at(TOMORROW, '02:00:01'),
    22,
  ],
  [
    'a reversal until the end of the next run',
    async () => {
      const done = await completed({ provider: other })
      await settle(TOMORROW)
      await transitioned(done, 'reversed', at(TOMORROW, '09:00:00'))
    },
    at(DAY_AFTER, '01:59:59'),
    at(DAY_AFTER, '02:00:01'),
    27,
  ],
  [
    'a batch that is being built',
    () => put(keys.batch(batchOf(TODAY).id), 'batch', toBatchItem(batchOf(TODAY))),
    at(TODAY, '01:00:00'),
    at(TODAY, '03:00:00'),
    26,
  ],
  [
    'an open debit until its timeouts',
    () => charged({ provider: other }),
    at(TODAY, '12:09:59'),
    at(TOMORROW, '02:00:01'),
    4,
  ],
]

test.each(inProgress)('%s causes no difference', async (_, plant, last, first, number) => {
  await putProviders()
  await plant()
  expect(await differencesOn(TODAY, last)).toEqual([])
  expect(await differencesOn(TODAY, first)).toMatchObject([{ number }])
})

test('an event before its attempt or before the last change of the webhook causes no difference', async () => {
  await putProviders()
  await transitioned(await charged(), 'failed', at(TODAY, '12:02:00'))
  expect(await differencesOn(TODAY, at(TODAY, '12:05:00'))).toEqual([])
  expect(await differencesOn(TODAY)).toMatchObject([{ number: 15 }])
  await overwrite(keys.webhook(demo), { since: at(TODAY, '12:02:01').toISOString() })
  expect(await differencesOn(TODAY)).toEqual([])
})

test('a finding counts all differences and lists 100 examples', async () => {
  await putProviders()
  const open = Array.from({ length: 120 }, () => pendingDebit({ provider: other }))
  await Promise.all(
    open.map((debit) => put(keys.debit(debit.facts.reference), 'debit', toDebitItem(debit))),
  )
  const { invariants } = await reconcileLater(TODAY)
  const late = invariants.find(({ number }) => number === 4)
  expect([late?.checked, late?.differences, late?.examples.length]).toEqual([120, 120, 100])
})
