import fc from 'fast-check'
import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { FeeSchedule } from '../../shared/domain/settlement/fee-schedule.ts'
import { useFreshTable } from '../support/tables.ts'
import { liveThrough, type Plan } from './days.ts'
import { DAY_MS } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/**
 * Whatever the days are like, money is neither made nor lost. `RANDOM_DAYS=300` makes it so many
 * runs, each from another seed.
 */

const { RANDOM_DAYS, RANDOM_SEED } = process.env
const numRuns = Number(RANDOM_DAYS ?? 4)
const seed = Number(RANDOM_SEED ?? (RANDOM_DAYS ? Date.now() : 20261122))

beforeAll(useFreshTable)
const shelf = useReportShelf()

const anAmount = fc.oneof(
  fc.integer({ min: 1_00, max: 10_000_00 }),
  fc.constantFrom(1_00, 3_00, 10_000_00),
)

const aSchedule = fc
  .record({
    basisPoints: fc.constantFrom(0, 150, 250, 9_999),
    fixed: fc.constantFrom(0, 10, 2_50),
    minimum: fc.option(fc.nat(1_00), { nil: undefined }),
    maximum: fc.option(fc.integer({ min: 1_00, max: 50_00 }), { nil: undefined }),
  })
  .map((schedule) => v.parse(FeeSchedule, JSON.parse(JSON.stringify(schedule))))

/** Of a day: around its midnights, and any other. */
const aTime = fc.oneof(fc.constantFrom(0, 1, DAY_MS - 2, DAY_MS - 1), fc.nat(DAY_MS - 1))

const aReversal = fc.record({
  moment: fc.oneof(
    fc.constant({ kind: 'at once' as const }),
    fc.record({ kind: fc.constant('at noon' as const), daysLater: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      kind: fc.constant('during a run' as const),
      night: fc.nat(2),
      write: fc.nat(5),
    }),
  ),
  twice: fc.boolean(),
})

const aDebit = fc.record({
  amount: anAmount,
  fee: fc.option(fc.nat(1_00), { nil: undefined }),
  day: fc.nat(2),
  time: aTime,
  isLate: fc.nat(9).map((n) => n === 0),
  reversal: fc.option(aReversal, { nil: undefined, freq: 2 }),
})

const aNight = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.constantFrom(
      'once' as const,
      'doubled' as const,
      'skipped' as const,
      'late by 26 hours' as const,
      'two at once' as const,
      'cut off' as const,
      'cut off and left' as const,
    ),
  },
  { weight: 2, arbitrary: fc.nat(6).map((write) => `killed at write ${write}` as const) },
)

const aConduct = fc.constantFrom(
  'pay' as const,
  'reject' as const,
  'take its time' as const,
  'take its time to reject' as const,
  'pay unheard' as const,
  'hear nothing' as const,
)

const aPlan: fc.Arbitrary<Plan> = fc.record({
  feeSchedule: fc.option(aSchedule, { nil: undefined }),
  debits: fc.oneof(
    { weight: 2, arbitrary: fc.array(aDebit, { minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.array(aDebit, { minLength: 50, maxLength: 110 }) },
  ),
  nights: fc.tuple(aNight, aNight, aNight),
  conducts: fc.array(aConduct, { maxLength: 6 }),
})

test(
  'random days, of two providers side by side, settle to the pesewa',
  async () => {
    await fc.assert(
      fc.asyncProperty(aPlan, aPlan, async (one, other) => {
        const complaints = await Promise.all([liveThrough(one), liveThrough(other)])
        expect(complaints.flat()).toEqual([])
        expect(shelf.differing).toEqual([])
      }),
      { numRuns, seed, endOnFailure: RANDOM_DAYS !== undefined },
    )
  },
  20_000 + numRuns * 10_000,
)
