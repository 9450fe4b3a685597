import * as v from 'valibot'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Batch, BatchId } from '../../shared/domain/settlement/batch.ts'
import { beginPayment, endPayment, failPayment } from '../../shared/domain/settlement/payment.ts'
import { Day, dayAfter } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { findBatches, replaceBatches } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
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
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

beforeEach(async () => {
  await useFreshTable()
  await putProviders()
})

const account = { bank: 'GCB', accountNumber: '1041001001', accountName: 'Other' } as never

const load = async (id: BatchId): Promise<Batch> => {
  const [batch] = await findBatches([id])
  if (!batch) throw new Error(`Batch ${id} does not exist`)
  return batch
}

type Step = { batch: Batch; others: Batch[] }

const write = async (previous: readonly Batch[], { batch, others }: Step): Promise<void> => {
  const pairs = [batch, ...others].map((next, index) => ({
    previous: previous[index] ?? next,
    next,
  }))
  expect(await replaceBatches(pairs, {}, still())).toEqual({ kind: 'written' })
}

const begin = async (id: BatchId, below: readonly BatchId[], when: Date): Promise<void> => {
  const [batch, belowZero] = [await load(id), await findBatches(below)]
  await write([batch, ...belowZero], beginPayment(batch, { belowZero, account, at: when }))
}

const end = async (id: BatchId, how: 'paid' | 'failed', when: Date): Promise<void> => {
  const batch = await load(id)
  const others = await findBatches(batch.offsets.map((offset) => offset.batch))
  const step =
    how === 'paid'
      ? endPayment(batch, { bankReference: 'GCB-PAY-1', at: when }, others)
      : failPayment(batch, { failure: 'Account closed', at: when }, others)
  await write([batch, ...others], step)
}

/** Settles a paid batch, a later one below zero with its adjustment, and one that can offset it. */
const belowZero = async () => {
  const reversed = await completed({ provider: other })
  const others = [await completed({ provider: other }), await completed({ provider: other })]
  const first = await settle(TOMORROW, { lines: [reversed] })
  await begin(first, [], at(DAY_AFTER, '00:00:01'))
  await end(first, 'paid', at(DAY_AFTER, '00:00:02'))
  await transitioned(reversed, 'reversed', at(TOMORROW, '09:00:00'))
  const below = await settle(DAY_AFTER, { adjustments: [reversed] })
  const later = await settle(DAY_AFTER, { lines: others })
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

describe('offsets', () => {
  test('are right while they wait, are in progress, returned and completed', async () => {
    const { below, later } = await belowZero()
    const days = [TODAY, TOMORROW, DAY_AFTER]
    const all = async () => (await Promise.all(days.map(found))).flat()
    expect(await all()).toEqual([])
    await begin(later, [below], at(DAY_AFTER, '23:00:00'))
    expect(await all()).toEqual([])
    await end(later, 'failed', at(DAY_AFTER, '23:30:00'))
    expect(await found(DAY_AFTER)).toEqual([[26, later, 'its payout failed and was not retried']])
    await write([await load(later)], {
      batch: { ...(await load(later)), status: 'pending', paid: null, paidTo: null },
      others: [],
    })
    await begin(later, [below], at(DAY_AFTER, '23:40:00'))
    await end(later, 'paid', at(DAY_AFTER, '23:50:00'))
    expect(await all()).toEqual([])
    expect(await load(below)).toMatchObject({ offsetBy: later, status: 'completed' })
  })

  test('of a batch older than the list are compared, too', async () => {
    const { below, later } = await belowZero()
    await overwrite(keys.batch(later), { 'totals.net': 10_00, 'totals.gross': 10_00 })
    await begin(later, [below], at(DAY_AFTER, '23:00:00'))
    expect((await load(below)).outstanding).toBe(-88_50)
    const inTwoMonths = day('2027-01-23')
    expect(await foundInBatches(inTwoMonths)).toEqual([])
    await overwrite(keys.batch(below), { outstanding: -80_00 })
    expect(await foundInBatches(inTwoMonths)).toEqual([
      [26, below, 'it lacks 88.50, but 80.00 is outstanding'],
    ])
  })
})

describe('a batch', () => {
  test('is reported every night while its payout has failed', async () => {
    const { later } = await belowZero()
    await begin(later, [], at(DAY_AFTER, '23:00:00'))
    await end(later, 'failed', at(DAY_AFTER, '23:30:00'))
    for (const date of [DAY_AFTER, day('2026-11-30'), day('2027-01-23')]) {
      expect(await found(date), date).toContainEqual([
        26,
        later,
        'its payout failed and was not retried',
      ])
    }
  })

  test('is reported once its payout is in progress for more than two days', async () => {
    const { first } = await belowZero()
    await overwrite(keys.batch(first), { status: 'processing', completedAt: undefined })
    const since = '2026-11-23T00:00:01.000Z'
    expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:01'))).toEqual([])
    expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:02'))).toMatchObject([
      { examples: [{ difference: `its payout is in progress since ${since}` }] },
    ])
  })

  test('is reported once it is due for more than a week', async () => {
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

  test('that cannot be checked hides no other', async () => {
    const { below, later } = await belowZero()
    await overwrite(keys.batch(below), { 'totals.count': undefined })
    await begin(later, [], at(DAY_AFTER, '23:00:00'))
    await end(later, 'failed', at(DAY_AFTER, '23:30:00'))
    const subjects = (await foundInBatches(DAY_AFTER)).map(([, subject]) => subject)
    expect(new Set(subjects)).toEqual(new Set([below, later]))
  })
})
