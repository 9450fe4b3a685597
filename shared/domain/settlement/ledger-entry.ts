import type { BankIdentifier } from '../banks/bank.ts'
import { exceptionKinds } from '../debits/exception.ts'
import type { ProviderId } from '../providers/provider.ts'

export type Account =
  /** Collected by a bank and not remitted. */
  | `bank_receivable:${BankIdentifier}`
  /** Remittances and transfers of providers, less payouts. */
  | 'cash'
  /** Owed to a provider. */
  | `provider_payable:${ProviderId}`
  | 'fee_income'
  /** Owed to customers. */
  | 'refunds_payable'
  /** Undecided late completions. */
  | 'exceptions'

/** The types of entries, with their descriptions in the journal. */
export const entryTypes = {
  completion: 'The bank debited the customer',
  fees: 'Fees of a sealed batch',
  reversal: 'An operator reversed the debit',
  late_completion: exceptionKinds.late_completion.meaning,
  resolution: 'An operator resolved the late completion by a note',
  refund_opened: 'The customer of a late completion is refunded',
  refund: 'The bank refunded the customer',
  repayment: 'The customer was repaid by hand after a failed refund',
  payout: 'The provider was paid',
  provider_payment: 'The provider paid what a batch below zero owed',
  funding: 'The bank remitted cash',
  funding_correction: 'An operator corrected the amount of a remittance',
} as const

export type EntryType = keyof typeof entryTypes

/** A double entry. */
export type LedgerEntry = {
  at: Date
  type: EntryType
  /** The stored item that the entry derives from. */
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

export const balanceOf = (balances: Balances, account: Account) => balances.get(account) ?? 0

export const post = (balances: Balances, { debit, credit, amount }: LedgerEntry): void => {
  add(balances, debit, amount)
  add(balances, credit, -amount)
}

export const addBalances = (balances: Balances, more: Balances): void => {
  for (const [account, amount] of more) add(balances, account, amount)
}

/** Returns the sum of all balances, which must be zero. */
export const trialBalance = (balances: Balances): number =>
  [...balances.values()].reduce((sum, balance) => sum + balance, 0)

export const isWithin = (at: Date, { from, before }: { from: Date; before: Date }): boolean =>
  at >= from && at < before
