import * as v from 'valibot'
import { beforeEach, expect, test } from 'vitest'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { Day, dayAfter } from '../../shared/domain/time.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { keys } from '../../shared/store/keys.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from '../settlement/fake-bank.ts'
import { still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  completed,
  DAY_AFTER,
  differencesOn,
  other,
  overwrite,
  putProviders,
  settle,
  TOMORROW,
  transitioned,
} from './one-day.ts'

let bank: FakeBank
beforeEach(async () => {
  await useFreshTable()
  await putProviders()
  bank = fakeBank()
})

const load = async (id: BatchId): Promise<Batch> => (await findBatch(id)) as Batch

const depsAt = (when: Date) => ({
  runtime: still({ now: () => when }),
  connectors: bank.connectors,
})

/** Pays a batch on the day after. */
const pay = async (id: BatchId, time: string, behaviour: PayoutBehaviour = 'pay') => {
  bank.behaviours.push(behaviour)
  return granted(await payBatch(id, depsAt(at(DAY_AFTER, time)))).status
}

/** Settles a paid batch, a later one below zero with its adjustment, and one that can offset it. */
const belowZero = async () => {
  const reversed = await completed({ provider: other })
  const first = await settle(TOMORROW)
  await pay(first, '00:00:01')
  await transitioned(reversed, 'reversed', at(TOMORROW, '09:00:00'))
  const below = await settle(DAY_AFTER)
  for (const _ of [1, 2]) await completed({ provider: other })
  const later = await settle(DAY_AFTER)
  return { first, below, later }
}

const day = (text: string) => v.parse(Day, text)
/** Returns what the night after a day finds. */
const found = async (date: Day) =>
  (await differencesOn(date, at(dayAfter(date), '02:00:01'))).flatMap(({ number, examples }) =>
    examples.map(({ subject, difference }) => [number, subject, difference]),
  )

/** Without the ledger, which changes with the batches. */
const foundInBatches = async (date: Day) => (await found(date)).filter(([number]) => number !== 40)

test('the offsets of a batch older than the list are compared, too', async () => {
  const { below, later } = await belowZero()
  await overwrite(keys.batch(later), { 'totals.net': 10_00, 'totals.gross': 10_00 })
  await pay(later, '23:00:00', 'pay later')
  expect((await load(below)).outstanding).toBe(-88_50)
  const inTwoMonths = day('2027-01-23')
  expect(await foundInBatches(inTwoMonths)).toEqual([])
  await overwrite(keys.batch(below), { outstanding: -80_00 })
  expect(await foundInBatches(inTwoMonths)).toEqual([
    [26, below, 'it lacks 88.50, but 80.00 is outstanding'],
  ])
})

test('a batch is reported every night while its payout has failed', async () => {
  const { later } = await belowZero()
  await pay(later, '23:30:00', 'reject')
  for (const date of [DAY_AFTER, day('2026-11-30'), day('2027-01-23')]) {
    expect(await found(date), date).toContainEqual([
      26,
      later,
      'its payout failed and was not retried',
    ])
  }
})

test('a batch is reported once its payout is in progress for more than two days', async () => {
  const { first } = await belowZero()
  await overwrite(keys.batch(first), { status: 'processing', completedAt: undefined })
  const since = '2026-11-23T00:00:01.000Z'
  expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:01'))).toEqual([])
  expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:02'))).toMatchObject([
    { examples: [{ difference: `its payout is in progress since ${since}` }] },
  ])
})

test('a batch is reported once it is due for more than a week', async () => {
  const { later } = await belowZero()
  const last = day('2026-11-30')
  const due = '2026-11-24T00:00:00.000Z'
  expect(await found(last)).toContainEqual([
    26,
    later,
    `it is due since ${due}, but its payout has not begun`,
  ])
  expect(await found(dayAfter(last, -2))).toEqual([])
})

test('a batch that cannot be checked hides no other', async () => {
  const { below, later } = await belowZero()
  await overwrite(keys.batch(below), { 'totals.count': undefined })
  await pay(later, '23:30:00', 'reject')
  const subjects = (await foundInBatches(DAY_AFTER)).map(([, subject]) => subject)
  expect(new Set(subjects)).toEqual(new Set([below, later]))
})
