import type { BankIdentifier } from '../banks/bank.ts'
import type { Uuid } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { Day } from '../time.ts'
import type { BatchId } from './batch.ts'

/**
 * One payment to a provider, as the bank of its account is told to make it (specification, What the
 * service does, 6). The uuid makes a repeat recognisable, to that bank alone: amount and account
 * must be those of the first time, or two banks may pay.
 */
export type Payout = {
  uuid: Uuid
  batch: BatchId
  provider: ProviderId
  /** More than nothing. */
  amount: Pesewas
  currency: 'GHS'
  account: { bank: BankIdentifier; accountNumber: string; accountName: string }
  /** The day of the batch. */
  date: Day
  /** It may have been given before, and its last word is not known. */
  repeated: boolean
}

/** One refund to a customer, as the bank that debited the account gets it. */
export type RefundPayment = {
  uuid: Uuid
  debitUuid: Uuid
  bank: BankIdentifier
  /** The bank's reference of the debit, and the customer's account, when they are known. */
  debitBankReference: string | null
  accountNumber: string | null
  amount: Pesewas
  reason: string
  createdAt: Date
  /** It may have been sent before, and the bank's final reply is not known. */
  repeated: boolean
}

/** What the bank answered. Paid and rejected are last words: no later answer differs. */
export type PayoutResult =
  | { kind: 'paid'; bankReference: string }
  | { kind: 'rejected'; message: string; bankReference?: string }
  /** The bank has it, and is to be asked again. */
  | { kind: 'underway' }
