import type { Line, Totals } from '../domain/settlement/batch.ts'

/** Sums of lines, computed without the code that wrote them. */
export type Sums = Record<keyof Totals, bigint>

export const noSums: Sums = { count: 0n, debits: 0n, gross: 0n, fee: 0n, adjustments: 0n, net: 0n }

/** Converts an amount; one that is not in whole pesewas counts as zero and has its own check. */
export const whole = (amount: number) => (Number.isSafeInteger(amount) ? BigInt(amount) : 0n)

export const withLine = (sums: Sums, { type, gross, fee, net }: Line): Sums => {
  const isDebit = type === 'debit'
  return {
    count: sums.count + 1n,
    debits: sums.debits + (isDebit ? 1n : 0n),
    gross: sums.gross + (isDebit ? whole(gross) : 0n),
    fee: sums.fee + (isDebit ? whole(fee) : 0n),
    adjustments: sums.adjustments + (isDebit ? 0n : whole(net)),
    net: sums.net + whole(net),
  }
}
