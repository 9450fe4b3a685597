import { CURRENCY, formatAmount, pesewas } from '../../domain/money.ts'
import {
  type Account,
  type Balances,
  balanceOf,
  entryTypes,
  type LedgerEntry,
} from '../../domain/settlement/ledger-entry.ts'
import type { Day } from '../../domain/time.ts'

export const balanceView = (amount: number): string => formatAmount(pesewas(amount))
const NOTHING = balanceView(0)

const linesOf = ({ debit, credit, amount }: LedgerEntry) => [
  { account: debit, debit: balanceView(amount), credit: NOTHING },
  { account: credit, debit: NOTHING, credit: balanceView(amount) },
]

type EntryResult = ReturnType<typeof entryView>

export const entryView = (entry: LedgerEntry) => ({
  time: entry.at.toISOString(),
  type: entry.type,
  source: entry.source,
  description: entryTypes[entry.type],
  lines: linesOf(entry),
})

type BalanceResult = ReturnType<typeof accountBalanceView>

export const accountBalanceView = (
  account: Account,
  day: { opening: Balances; debit: Balances; credit: Balances; closing: Balances },
) => ({
  account,
  opening: balanceView(balanceOf(day.opening, account)),
  debit: balanceView(balanceOf(day.debit, account)),
  credit: balanceView(balanceOf(day.credit, account)),
  closing: balanceView(balanceOf(day.closing, account)),
})

/** The journal of a day, which is written as text, entry by entry. */
export type JournalResult = {
  date: Day
  currency: typeof CURRENCY
  entries: EntryResult[]
  accounts: BalanceResult[]
  trial_balance: string
}

type AccountDays = { account: Account; from: Day; to: Day; opening: number }

export type AccountStatementResult = ReturnType<typeof accountStatementView>

/** Shows the entries of an account by time, with the balance after each. */
export const accountStatementView = (
  { account, from, to, opening }: AccountDays,
  entries: readonly LedgerEntry[],
) => {
  let [balance, debit, credit] = [opening, 0, 0]
  const shown = entries
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
    .map((entry) => {
      const [debited, credited] = entry.debit === account ? [entry.amount, 0] : [0, entry.amount]
      debit += debited
      credit += credited
      balance += debited - credited
      const { time, type, source, description } = entryView(entry)
      const amounts = { debit: balanceView(debited), credit: balanceView(credited) }
      return { time, type, source, description, ...amounts, balance: balanceView(balance) }
    })
  const sums = { debit: balanceView(debit), credit: balanceView(credit) }
  const balances = { opening: balanceView(opening), ...sums, closing: balanceView(balance) }
  return { account, from, to, currency: CURRENCY, ...balances, entries: shown }
}
