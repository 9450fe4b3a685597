import { type CURRENCY, formatAmount, pesewas } from '../../domain/money.ts'
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

export type EntryResult = ReturnType<typeof entryView>

export const entryView = (entry: LedgerEntry) => ({
  time: entry.at.toISOString(),
  type: entry.type,
  source: entry.source,
  description: entryTypes[entry.type],
  lines: linesOf(entry),
})

export type BalanceResult = ReturnType<typeof accountBalanceView>

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
