import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { ProviderId } from '../domain/providers/provider.ts'

/** Double entries: each debits one account and credits another with the same amount. */

export type Account =
  /** Money that a bank has collected for the service and has not remitted. */
  | `bank_receivable:${BankIdentifier}`
  /** Remittances of banks, less payouts. */
  | 'cash'
  /** Debt of the service to a provider. */
  | `provider_payable:${ProviderId}`
  | 'fee_income'
  /** Debt of the service to customers. */
  | 'refunds_payable'
  /** Money of late completions that no operator has decided about. */
  | 'exceptions'

export type EntryType =
  | 'completion'
  | 'fees'
  | 'reversal'
  | 'late_completion'
  | 'resolution'
  | 'refund_opened'
  | 'refund'
  | 'repayment'
  | 'payout'
  | 'funding'

export type LedgerEntry = {
  at: Date
  type: EntryType
  /** The stored fact that the entry follows from. */
  source: { type: 'debit' | 'batch' | 'refund' | 'exception' | 'funding'; id: string } & Record<
    string,
    string
  >
  debit: Account
  credit: Account
  /** Pesewas, above zero. */
  amount: number
}

export const receivable = (bank: BankIdentifier): Account => `bank_receivable:${bank}`
export const payable = (provider: ProviderId): Account => `provider_payable:${provider}`

/** Pesewas by account; debit balances are above zero, credit balances below. */
export type Balances = Map<Account, number>

const add = (balances: Balances, account: Account, amount: number): void => {
  balances.set(account, balanceOf(balances, account) + amount)
}

export const balanceOf = (balances: Balances, account: Account): number =>
  balances.get(account) ?? 0

/** Adds an entry to the balances of its two accounts. */
export const post = (balances: Balances, { debit, credit, amount }: LedgerEntry): void => {
  add(balances, debit, amount)
  add(balances, credit, -amount)
}

/** Returns the sum of all balances: zero, or the books are wrong. */
export const trialBalance = (balances: Balances): number =>
  [...balances.values()].reduce((sum, balance) => sum + balance, 0)

/** A span of time; its end is outside. */
export type Span = { from: Date; before: Date }

export const isWithin = (at: Date, { from, before }: Span): boolean => at >= from && at < before
