import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { defined } from '../../../shared/domain/defined.ts'
import { AMOUNT_MAX, AMOUNT_MIN, pesewas } from '../../../shared/domain/money.ts'
import { split } from '../../../shared/domain/settlement/fee.ts'
import { FeeSchedule } from '../../../shared/domain/settlement/fee-schedule.ts'
import { debitLine } from '../../../shared/domain/settlement/line.ts'
import { rowsOf } from '../../support/rows.ts'
import { completed, moved, opened } from '../debits/one-debit.ts'

const schedule = (given: { [K in keyof FeeSchedule]?: number }): FeeSchedule =>
  v.parse(FeeSchedule, { basisPoints: 0, fixed: 0, ...given })

/** Round half to even, by remainders of whole numbers: nothing in common with the library. */
const halfEven = (amount: number, basisPoints: number): number => {
  const product = BigInt(amount) * BigInt(basisPoints)
  const below = product / 10_000n
  const rest = product % 10_000n
  const up = rest > 5_000n || (rest === 5_000n && below % 2n === 1n)
  return Number(up ? below + 1n : below)
}

const anAmount = fc.integer({ min: AMOUNT_MIN, max: AMOUNT_MAX }).map(pesewas)
const basisPoints = fc.integer({ min: 0, max: 10_000 })
const someAmount = fc.option(fc.integer({ min: 0, max: 200_00 }), { nil: undefined })

/** A schedule whose minimum, where it has both, is not above its maximum. */
const aSchedule = fc
  .record({ basisPoints, fixed: fc.nat(200_00), one: someAmount, other: someAmount })
  .map(({ one, other, ...rest }) => {
    const [minimum, maximum] =
      one !== undefined && other !== undefined && one > other ? [other, one] : [one, other]
    return schedule(defined({ ...rest, minimum, maximum }))
  })

describe('the share of an amount', () => {
  test('the share is rounded half to even for every amount and rate', () => {
    fc.assert(
      fc.property(anAmount, basisPoints, (gross, rate) => {
        expect(split(gross, schedule({ basisPoints: rate })).fee).toBe(halfEven(gross, rate))
      }),
      { numRuns: 2_000 },
    )
  })

  test('half a pesewa is rounded to even', () => {
    // Odd multiples of 1.00 at 1.5 %, of 0.20 at 2.5 %, of 0.01 at 50 %.
    const halves = fc.oneof(
      fc.nat(4_999).map((n) => ({ gross: (2 * n + 1) * 100, rate: 150 })),
      fc.nat(24_000).map((n) => ({ gross: (2 * n + 5) * 20, rate: 250 })),
      fc.nat(499_000).map((n) => ({ gross: 2 * n + 101, rate: 5_000 })),
    )
    fc.assert(
      fc.property(halves, ({ gross, rate }) => {
        expect((gross * rate) % 10_000).toBe(5_000)
        const { fee } = split(pesewas(gross), schedule({ basisPoints: rate }))
        expect(fee % 2).toBe(0)
        expect(fee).toBe(halfEven(gross, rate))
      }),
    )
  })

  test('the shares of 1.00, 2.00 ... 10000.00 at 1.5 % sum to exactly 1.5 % of their sum', () => {
    let sum = 0
    for (let gross = 1_00; gross <= 10_000_00; gross += 1_00) {
      sum += split(pesewas(gross), schedule({ basisPoints: 150 })).fee
    }
    // Half-up would be 2,500 pesewas more.
    expect(sum).toBe(75_007_500)
  })
})

const cases = rowsOf(`
  gross    basis points   fixed   minimum   maximum   fee     net
  10000    150            0       -         -         150     9850
  100      150            0       -         -         2       98
  300      150            0       -         -         4       296
  500      150            0       -         -         8       492
  10000    0              0       -         -         0       10000
  10000    0              10      -         -         10      9990
  10000    150            10      -         -         160     9840
  1000     150            10      50        -         50      950
  3000     150            5       50        -         50      2950
  3100     150            5       50        -         51      3049
  1000000  150            0       -         2500      2500    997500
  166600   150            0       -         2500      2499    164101
  166700   150            0       -         2500      2500    164200
  1000000  150            10      50        2500      2500    997500
  100      0              0       100       -         100     0
  100      0              250     -         -         100     0
  100      0              0       250       -         100     0
  100      10000          0       -         -         100     0
  100      10000          10      -         -         100     0
  100      150            10      250       300       100     0
  10000    150            10      50        50        50      9950
  10000    150            10      0         0         0       10000
`).slice(1)

const optional = (text = '-') => (text === '-' ? undefined : Number(text))

test.each(cases)(
  'of %s at %s basis points and %s, from %s to %s, the fee is %s and the net %s',
  (gross, rate, fixed, minimum, maximum, fee, net) => {
    const by = v.parse(FeeSchedule, {
      basisPoints: Number(rate),
      fixed: Number(fixed),
      minimum: optional(minimum),
      maximum: optional(maximum),
    })
    expect(split(pesewas(Number(gross)), by)).toEqual({ fee: Number(fee), net: Number(net) })
  },
)

test('fee and net sum to gross, and the fee is from zero to gross, for every schedule', () => {
  fc.assert(
    fc.property(anAmount, aSchedule, (gross, by) => {
      const { fee, net } = split(gross, by)
      expect(fee + net).toBe(gross)
      expect(fee).toBeGreaterThanOrEqual(0)
      expect(fee).toBeLessThanOrEqual(gross)
      expect(fee).toBeLessThanOrEqual(by.maximum ?? gross)
      expect(fee).toBeGreaterThanOrEqual(Math.min(by.minimum ?? 0, gross))
    }),
  )
})

test('a reported fee applies up to gross, and without a fee nothing is deducted', () => {
  fc.assert(
    fc.property(anAmount, fc.nat(2_000_000).map(pesewas), (gross, given) => {
      const { fee, net } = split(gross, given)
      expect(fee).toBe(Math.min(given, gross))
      expect(fee + net).toBe(gross)
      expect(split(gross, undefined)).toEqual({ fee: 0, net: gross })
    }),
  )
})

describe('the fee of a debit', () => {
  const byTheSchedule = schedule({ basisPoints: 200 })

  test("the bank's fee applies if it is reported, including zero", () => {
    expect(debitLine(completed, byTheSchedule)).toMatchObject({ gross: 100_00, fee: 1_50 })
    const free = moved(opened, 'completed', '10:01:00.000', { fee: pesewas(0) })
    expect(debitLine(free, byTheSchedule)).toMatchObject({ fee: 0, net: 100_00 })
  })

  test("the provider's schedule applies if the bank reports no fee", () => {
    const silent = moved(opened, 'completed', '10:01:00.000', {})
    expect(debitLine(silent, byTheSchedule)).toMatchObject({ fee: 2_00, net: 98_00 })
    expect(debitLine(silent, undefined)).toMatchObject({ fee: 0, net: 100_00 })
  })
})

const refused = rowsOf(`
  {"basisPoints":-1,"fixed":0}                           a share below nothing
  {"basisPoints":10001,"fixed":0}                        a share above the whole
  {"basisPoints":1.5,"fixed":0}                          a part of a basis point
  {"basisPoints":0,"fixed":-1}                           a fixed part below nothing
  {"basisPoints":0,"fixed":0.5}                          half a pesewa
  {"basisPoints":0,"fixed":0,"minimum":-1}               a minimum below nothing
  {"basisPoints":0,"fixed":0,"minimum":51,"maximum":50}  a minimum above the maximum
`)

test.each(refused)('a schedule with %s is refused: %s', (text) => {
  expect(v.safeParse(FeeSchedule, JSON.parse(text)).success).toBe(false)
})
