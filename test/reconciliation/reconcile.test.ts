import { beforeEach, describe, expect, test } from 'vitest'
import type { Day } from '../../shared/domain/time.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { put } from '../../shared/store/table.ts'
import { pendingDebit } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  aDay,
  at,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  damage,
  demo,
  differences,
  moved,
  other,
  putProviders,
  reconciled,
  settled,
  TODAY,
  TOMORROW,
  told,
} from './one-day.ts'

/** A day is held against what must hold (hazards, Invariants): what is right shows nothing. */

beforeEach(useFreshTable)

const figures = async (date: Day) => {
  const { invariants: found } = await reconciled(date)
  return Object.fromEntries(found.map(({ number, checked }) => [number, checked]))
}

describe('a clean day', () => {
  test('shows no difference in its debits, nor in the batches of the days after', async () => {
    await aDay()
    for (const day of [TODAY, TOMORROW, DAY_AFTER]) expect(await differences(day), day).toEqual([])
  })

  test('says how much was looked at', async () => {
    await aDay()
    // Six debits of two providers; one of these wants to be told of three outcomes.
    expect(await figures(TODAY)).toMatchObject({
      1: 6,
      4: 6,
      5: 6,
      6: 6,
      9: 6,
      10: 6,
      12: 6,
      13: 3,
      15: 3,
      20: 1,
      22: 4,
      25: 4,
      27: 1,
      31: 1,
    })
    // Three lines, and the settlement of four debits of the day before.
    expect(await figures(TOMORROW)).toMatchObject({ 1: 0, 22: 7, 23: 3, 24: 2, 26: 2, 29: 3 })
    expect(await figures(DAY_AFTER)).toMatchObject({ 24: 3, 26: 3, 27: 2 })
  })

  test('says where the money of its completed debits is', async () => {
    await aDay()
    const { money } = await reconciled(TODAY)
    expect(money).toEqual({
      completed: 400_00n,
      settled: 300_00n,
      unsettled: 0n,
      reversed: 100_00n,
    })
  })

  test('that is empty shows none', async () => {
    expect(await differences(TODAY)).toEqual([])
  })
})

describe('what is right at rest only is no difference', () => {
  test('an open debit within its clock, and an event that is to be told', async () => {
    await putProviders()
    await charged()
    const processing = await moved(await charged(), 'processing', at(TODAY, '12:00:02'))
    const done = await moved(processing, 'completed', at(TODAY, '12:01:00'))
    await told(done, [503])
    await moved(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differences(TODAY, at(TODAY, '12:05:00'))).toEqual([])
  })

  test('a completed debit that no run could have seen, or whose run is not done', async () => {
    await putProviders()
    await completed({ provider: other })
    expect(await differences(TODAY, at(TODAY, '23:59:59'))).toEqual([])
    expect(await differences(TODAY, at(TOMORROW, '01:59:59'))).toEqual([])
    expect(await differences(TODAY, at(TOMORROW, '02:00:01'))).toMatchObject([{ number: 22 }])
  })

  test('a reversal whose line the next run takes back', async () => {
    await putProviders()
    const done = await completed({ provider: other })
    await settled(TOMORROW, { give: [done] })
    await moved(done, 'reversed', at(TOMORROW, '09:00:00'))
    expect(await differences(TODAY, at(TOMORROW, '23:00:00'))).toEqual([])
    expect(await differences(TODAY, at(DAY_AFTER, '02:00:01'))).toMatchObject([{ number: 27 }])
  })

  test('a batch that is being built', async () => {
    await putProviders()
    await put(keys.batch(batchOf(TODAY).id), 'batch', toBatchItem(batchOf(TODAY)))
    expect(await differences(TODAY, at(TODAY, '01:00:00'))).toEqual([])
    expect(await differences(TODAY, at(TODAY, '03:00:00'))).toMatchObject([{ number: 26 }])
  })

  test('an event that happened before the webhook was set as it is', async () => {
    await putProviders()
    await moved(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differences(TODAY)).toMatchObject([{ number: 15 }])
    await damage(keys.webhook(demo), 'SET since = :since', {
      since: at(TODAY, '12:02:01').toISOString(),
    })
    expect(await differences(TODAY)).toEqual([])
  })
})

test('a hundred examples are listed, and all are counted', async () => {
  await putProviders()
  const open = Array.from({ length: 120 }, () => pendingDebit({ provider: other }))
  await Promise.all(
    open.map((debit) => put(keys.debit(debit.facts.reference), 'debit', toDebitItem(debit))),
  )
  const { invariants: found } = await reconciled(TODAY)
  const late = found.find(({ number }) => number === 4)
  expect([late?.checked, late?.differences, late?.examples.length]).toEqual([120, 120, 100])
})
