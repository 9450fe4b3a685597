import { formatAmount } from '../domain/money.ts'
import type { Line, Totals } from '../domain/settlement/batch.ts'
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
export type Money = Record<'completed' | 'settled' | 'unsettled' | 'reversed', bigint>

export const noMoney: Money = { completed: 0n, settled: 0n, unsettled: 0n, reversed: 0n }

export const withMoneyOf = (money: Money, { debit, line }: DebitRecord): Money => {
  if (timeOf(debit, 'completed') === undefined) return money
  const amount = whole(debit.facts.amount)
  const account =
    debit.settledIn !== undefined
      ? 'settled'
      : debit.status === 'reversed'
        ? 'reversed'
        : 'unsettled'
  return {
    ...money,
    completed: money.completed + amount,
    [account]: money[account] + (account === 'settled' && line ? whole(line.gross) : amount),
  }
}

export const moneyView = (money: Money): Record<string, string> =>
  Object.fromEntries(Object.entries(money).map(([account, sum]) => [account, formatAmount(sum)]))
