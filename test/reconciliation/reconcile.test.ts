import { beforeEach, describe, expect, test } from 'vitest'
import type { Day } from '../../shared/domain/time.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { put } from '../../shared/store/table.ts'
import { pendingDebit } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  attempted,
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

describe('a clean day', () => {
  test('has no difference, nor have the batches of the next days', async () => {
    await exampleDay()
    for (const day of [TODAY, TOMORROW, DAY_AFTER])
      expect(await differencesOn(day), day).toEqual([])
  })

  test('counts the checked items', async () => {
    await exampleDay()
    // Six debits of two providers. One provider subscribes to three of the events.
    const expected = { 1: 6, 4: 6, 5: 6, 6: 6, 9: 6, 10: 6, 12: 6, 13: 3, 15: 3 }
    const checked = await checkedOn(TODAY)
    expect(checked).toMatchObject({ ...expected, 20: 1, 22: 4, 25: 4, 27: 1, 31: 1 })
    // Three lines, and four debits of the day before.
    expect(await checkedOn(TOMORROW)).toMatchObject({ 1: 0, 22: 7, 23: 3, 24: 2, 26: 2, 29: 3 })
    expect(await checkedOn(DAY_AFTER)).toMatchObject({ 24: 3, 26: 3, 27: 2 })
  })

  test('sums the money of its completed debits', async () => {
    await exampleDay()
    const { money } = await reconcileLater(TODAY)
    const totals = { completed: 400_00n, settled: 300_00n, unsettled: 0n, reversed: 100_00n }
    expect(money).toEqual(totals)
  })

  test('without debits has no difference', async () => {
    expect(await differencesOn(TODAY)).toEqual([])
  })
})

describe('work in progress is not a difference', () => {
  test('for an open debit before its timeout and an event before its attempt', async () => {
    await putProviders()
    await charged()
    const processing = await transitioned(await charged(), 'processing', at(TODAY, '12:00:02'))
    const done = await transitioned(processing, 'completed', at(TODAY, '12:01:00'))
    await attempted(done, [503])
    await transitioned(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differencesOn(TODAY, at(TODAY, '12:05:00'))).toEqual([])
  })

  test('for a completed debit before the end of the next run', async () => {
    await putProviders()
    await completed({ provider: other })
    expect(await differencesOn(TODAY, at(TODAY, '23:59:59'))).toEqual([])
    expect(await differencesOn(TODAY, at(TOMORROW, '01:59:59'))).toEqual([])
    expect(await differencesOn(TODAY, at(TOMORROW, '02:00:01'))).toMatchObject([{ number: 22 }])
  })

  test('for a reversal before the end of the next run', async () => {
    await putProviders()
    const done = await completed({ provider: other })
    await settle(TOMORROW)
    await transitioned(done, 'reversed', at(TOMORROW, '09:00:00'))
    expect(await differencesOn(TODAY, at(TOMORROW, '23:00:00'))).toEqual([])
    expect(await differencesOn(TODAY, at(DAY_AFTER, '02:00:01'))).toMatchObject([{ number: 27 }])
  })

  test('for a batch that is being built', async () => {
    await putProviders()
    await put(keys.batch(batchOf(TODAY).id), 'batch', toBatchItem(batchOf(TODAY)))
    expect(await differencesOn(TODAY, at(TODAY, '01:00:00'))).toEqual([])
    expect(await differencesOn(TODAY, at(TODAY, '03:00:00'))).toMatchObject([{ number: 26 }])
  })

  test('for an event before the last change of the webhook', async () => {
    await putProviders()
    await transitioned(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differencesOn(TODAY)).toMatchObject([{ number: 15 }])
    await overwrite(keys.webhook(demo), { since: at(TODAY, '12:02:01').toISOString() })
    expect(await differencesOn(TODAY)).toEqual([])
  })
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
