import type { Line, Totals } from '../domain/settlement/batch.ts'

/** Sums of lines once more, in numbers that know no rounding and no end. */
export type Sums = Record<keyof Totals, bigint>

export const noSums: Sums = { count: 0n, debits: 0n, gross: 0n, fee: 0n, adjustments: 0n, net: 0n }

/** What is no whole number of pesewas is told by itself, and has no part in a sum. */
export const whole = (amount: number): bigint =>
  Number.isSafeInteger(amount) ? BigInt(amount) : 0n

export const withLine = (sums: Sums, { type, gross, fee, net }: Line): Sums =>
  type === 'adjustment'
    ? {
        ...sums,
        count: sums.count + 1n,
        adjustments: sums.adjustments + whole(net),
        net: sums.net + whole(net),
      }
    : {
        ...sums,
        count: sums.count + 1n,
        debits: sums.debits + 1n,
        gross: sums.gross + whole(gross),
        fee: sums.fee + whole(fee),
        net: sums.net + whole(net),
      }

/** `-12345n` to `-123.45`. */
export const inGhs = (sum: bigint): string => {
  const digits = String(sum < 0n ? -sum : sum).padStart(3, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
