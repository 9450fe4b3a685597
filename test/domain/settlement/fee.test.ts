import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { AMOUNT_MAX, AMOUNT_MIN, pesewas } from '../../../shared/domain/money.ts'
import { FeeSchedule } from '../../../shared/domain/providers/fee-schedule.ts'
import { split } from '../../../shared/domain/settlement/fee.ts'
import { debitLine } from '../../../shared/domain/settlement/line.ts'
import { completed, moved, opened } from '../debits/one-debit.ts'

const schedule = (given: { [K in keyof FeeSchedule]?: number | undefined }): FeeSchedule =>
  v.parse(FeeSchedule, { basisPoints: 0, fixed: 0, ...given })

/** Rounds half to even with remainders of whole numbers, without the library. */
const halfEven = (amount: number, basisPoints: number): number => {
  const product = BigInt(amount) * BigInt(basisPoints)
  const below = product / 10_000n
  const rest = product % 10_000n
  const up = rest > 5_000n || (rest === 5_000n && below % 2n === 1n)
  return Number(up ? below + 1n : below)
}

const amounts = fc.integer({ min: AMOUNT_MIN, max: AMOUNT_MAX }).map(pesewas)
const basisPoints = fc.integer({ min: 0, max: 10_000 })

test('the shares of 1.00, 2.00 ... 10000.00 at 1.5 % sum to exactly 1.5 % of their sum', () => {
  const grosses = Array.from({ length: 10_000 }, (_, n) => pesewas((n + 1) * 100))
  const fees = grosses.map((gross) => split(gross, schedule({ basisPoints: 150 })).fee)
  // Half-up would be 2,500 pesewas more.
  expect(fees.reduce((sum, fee) => sum + fee, 0)).toBe(75_007_500)
})

test('the sum of fee and net is gross, and the fee is within its limits, for every schedule', () => {
  const limit = fc.option(fc.nat(200_00), { nil: undefined })
  const schedules = fc
    .record({ basisPoints, fixed: fc.nat(200_00), minimum: limit, maximum: limit })
    .filter(({ minimum = 0, maximum = Number.POSITIVE_INFINITY }) => minimum <= maximum)
    .map(schedule)
  fc.assert(
    fc.property(amounts, schedules, (gross, by) => {
      const { fee, net } = split(gross, by)
      const full = halfEven(gross, by.basisPoints) + by.fixed
      const limited = Math.min(Math.max(full, by.minimum ?? 0), by.maximum ?? gross)
      expect([fee, fee + net]).toEqual([Math.min(limited, gross), gross])
    }),
  )
})

const silent = moved(opened, 'completed', '10:01:00.000', {})
const free = moved(opened, 'completed', '10:01:00.000', { fee: pesewas(0) })
const costly = moved(opened, 'completed', '10:01:00.000', { fee: pesewas(100_01) })
const twoPercent = schedule({ basisPoints: 200 })

test.each([
  ["the bank's fee", completed, twoPercent, 1_50],
  ["the bank's fee of zero", free, twoPercent, 0],
  ["the bank's fee, at most the amount", costly, undefined, 100_00],
  ["the provider's schedule", silent, twoPercent, 2_00],
  ['nothing without a fee and a schedule', silent, undefined, 0],
])('the settlement of a debit deducts %s', (_, debit, by, fee) => {
  expect(debitLine(debit, by)).toMatchObject({ gross: 100_00, fee, net: 100_00 - fee })
})

test.each([
  [{ basisPoints: -1 }],
  [{ basisPoints: 10_001 }],
  [{ basisPoints: 1.5 }],
  [{ fixed: -1 }],
  [{ fixed: 0.5 }],
  [{ minimum: -1 }],
  [{ minimum: 51, maximum: 50 }],
])('a schedule with %j is refused', (given) => {
  expect(v.safeParse(FeeSchedule, { basisPoints: 0, fixed: 0, ...given }).success).toBe(false)
})
