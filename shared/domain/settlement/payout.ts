import type { Refund } from '../debits/refund.ts'
import type { BatchId } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { SettlementAccount } from '../providers/provider.ts'
import { secondsAfter } from '../time.ts'
import type { Batch } from './batch.ts'

/**
 * A payment to a provider by the bank of its account (docs/api.md#payouts). Only that bank deduplicates
 * by the uuid: a repeat must have the same amount and account, or two banks may pay.
 */
export type Payout = Pick<Batch, 'uuid' | 'provider' | 'currency' | 'date'> & {
  batch: BatchId
  /** Above zero. */
  amount: Pesewas
  account: SettlementAccount
  /** Whether the bank may already have it, with an unknown result. */
  repeated: boolean
}

/** A refund to a customer by the bank that debited the account. */
export type RefundPayment = { repeated: boolean } & Pick<
  Refund,
  | 'uuid'
  | 'debitUuid'
  | 'providerName'
  | 'bank'
  | 'debitBankReference'
  | 'accountNumber'
  | 'amount'
  | 'reason'
  | 'createdAt'
>

/** The bank's reply. `paid` and `rejected` are final. */
export type PayoutResult =
  | { kind: 'paid'; bankReference: string }
  | { kind: 'rejected'; message: string; bankReference?: string }
  /** The bank has it; query it again. */
  | { kind: 'underway' }

/** A worker that marks a payout or refund sends it and records the reply within this time. */
const SENT_SECONDS = 60

/** Reports whether a worker may be sending a payout or refund. */
export const mayBeInFlight = ({ sentAt }: Pick<Batch | Refund, 'sentAt'>, at: Date): boolean =>
  !!sentAt && secondsAfter(sentAt, SENT_SECONDS) > at
