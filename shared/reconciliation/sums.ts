import type { Line, Totals } from '../domain/settlement/batch.ts'
import { EXPECTED } from './lifecycle.ts'
import { type DebitRecord, timeOf } from './records.ts'

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

/** The amounts of the day's completed debits; `reversed`: reversed before settlement. */
const moneyNames = ['completed', 'settled', 'unsettled', 'reversed'] as const

/**
 * Sums of a part, in pesewas. `counted`: debits in the day's total; `fees` of the batches sealed on the
 * day; `owed` to the provider for debits that were not in a sealed batch at the end of the day.
 */
export const amountNames = [...moneyNames, 'counted', 'fees', 'owed'] as const
export type Amounts = Record<(typeof amountNames)[number], bigint>

export const noAmounts = (): Amounts => ({
  completed: 0n,
  settled: 0n,
  unsettled: 0n,
  reversed: 0n,
  counted: 0n,
  fees: 0n,
  owed: 0n,
})

export const addAmounts = (sums: Amounts, more: Amounts): void => {
  for (const name of amountNames) sums[name] += more[name]
}

export const addMoneyOf = (sums: Amounts, { debit, line }: DebitRecord): void => {
  if (timeOf(debit, 'completed') === undefined) return
  const amount = whole(debit.facts.amount)
  sums.completed += amount
  if (debit.settledIn !== undefined) sums.settled += line ? whole(line.gross) : amount
  else sums[EXPECTED[debit.status].money ?? 'unsettled'] += amount
}
