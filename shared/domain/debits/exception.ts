import type { BankIdentifier } from '../banks/bank.ts'
import type { Reference } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { Details, ErrorCode } from '../refusal.ts'
import type { Status } from './lifecycle.ts'

/** Why a debit needs an operator: three kinds of rejected bank reports, and a failed refund. */
export const exceptionKinds = [
  'late_completion',
  'refused_report',
  'contradiction',
  'refund',
] as const
export type ExceptionKind = (typeof exceptionKinds)[number]

/** A rejected bank report or a failed refund (docs/api.md#exceptions). */
export type ReportException = {
  reference: Reference
  kind: ExceptionKind
  at: Date
  provider: ProviderId
  bank: BankIdentifier
  amount: Pesewas
  /** `bank:GCB`, or `job:refund-customer` for a refund that cannot be sent. */
  by: string
  /** The uuid of the refund, for a failed refund. */
  requestId: string
  /** The status of the debit when the report arrived; absent when the body was unreadable. */
  status?: Status
  /** The response to the bank; absent for a failed refund. */
  code?: ErrorCode
  details?: Details
  /**
   * The original body, at most 64 KiB: text, or `base64:` and base64 if it is not UTF-8. For a failed
   * refund: the failure.
   */
  report: string
  resolvedAt?: string
  resolvedBy?: string
  note?: string
}

/** @param reported the status that the bank reported; undefined when the body was rejected */
export const exceptionKind = (
  status: Status,
  reported: string | undefined,
): Exclude<ExceptionKind, 'refund'> => {
  // The bank debited the customer, and the provider believes that it did not.
  if (status === 'failed' && reported === 'completed') return 'late_completion'
  // The bank withdraws a completion that the provider relies on.
  const wasCompleted = status === 'completed' || status === 'reversed'
  if (wasCompleted && reported === 'failed') return 'contradiction'
  return 'refused_report'
}
