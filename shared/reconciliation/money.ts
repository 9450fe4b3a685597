import { formatAmount } from '../domain/money.ts'
import { type DebitRecord, timeOf } from './related.ts'
import { whole } from './sums.ts'

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

export const moneyView = (money: Money): Record<keyof Money, string> => ({
  completed: formatAmount(money.completed),
  settled: formatAmount(money.settled),
  unsettled: formatAmount(money.unsettled),
  reversed: formatAmount(money.reversed),
})
