import type { BankIdentifier } from '../banks/bank.ts'
import type { Uuid } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId, SettlementAccount } from '../providers/provider.ts'
import type { Day } from '../time.ts'
import type { BatchId } from './batch.ts'

/**
 * A payment to a provider by the bank of its account (docs/api.md#payouts). Only that bank deduplicates
 * by the uuid: a repeat must have the same amount and account, or two banks may pay.
 */
export type Payout = {
  uuid: Uuid
  batch: BatchId
  provider: ProviderId
  /** Above zero. */
  amount: Pesewas
  currency: 'GHS'
  account: SettlementAccount
  date: Day
  /** Whether the bank may already have it, with an unknown result. */
  repeated: boolean
}

/** A refund to a customer by the bank that debited the account. */
export type RefundPayment = {
  uuid: Uuid
  debitUuid: Uuid
  bank: BankIdentifier
  /** The bank's reference of the debit, and the customer's account; null when unknown. */
  debitBankReference: string | null
  accountNumber: string | null
  amount: Pesewas
  reason: string
  createdAt: Date
  /** Whether the bank may already have it, with an unknown result. */
  repeated: boolean
}

/** The bank's reply. `paid` and `rejected` are final. */
export type PayoutResult =
  | { kind: 'paid'; bankReference: string }
  | { kind: 'rejected'; message: string; bankReference?: string }
  /** The bank has it; query it again. */
  | { kind: 'underway' }
