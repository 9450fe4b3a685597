import type { BankIdentifier } from '../banks/bank.ts'
import { type Complete, defined } from '../complete.ts'
import type { Reference } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { Details, ErrorCode } from '../refusal.ts'
import type { BankCallback } from './bank-update.ts'
import { lifecycle, type Status } from './lifecycle.ts'

type ExceptionRow = {
  /** A bank's report that the service rejected, or a refund that failed. */
  source: 'report' | 'refund'
  /** The effect of `exception refund`, which resolves the exception; `none`: not allowed. */
  refund: 'opens' | 'retries' | 'none'
  /** The account of the ledger that has the amount until an operator decides; null: none. */
  account: 'exceptions' | null
  /** The metric that counts exceptions of this kind. */
  metric: string
}

/** Why a debit needs an operator. */
export const exceptionKinds = {
  late_completion: {
    source: 'report',
    refund: 'opens',
    account: 'exceptions',
    metric: 'LateCompletion',
  },
  refused_report: { source: 'report', refund: 'none', account: null, metric: 'RefusedReport' },
  contradiction: { source: 'report', refund: 'none', account: null, metric: 'Contradiction' },
  refund: { source: 'refund', refund: 'retries', account: null, metric: 'RefundFailed' },
} as const satisfies Record<string, ExceptionRow>

export type ExceptionRows = typeof exceptionKinds
export type ExceptionKind = keyof ExceptionRows

type KindsWhere<Part> = {
  [K in ExceptionKind]: ExceptionRows[K] extends Part ? K : never
}[ExceptionKind]

/** The kinds of rejected bank reports. */
export type ReportKind = KindsWhere<{ source: 'report' }>
/** The kinds for which `exception refund` opens the refund of the debit. */
export type RefundedKind = KindsWhere<{ refund: 'opens' }>

export const exceptionStatuses = ['open', 'resolved'] as const
export type ExceptionStatus = (typeof exceptionStatuses)[number]

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

export type Resolution = Required<Pick<ReportException, 'note' | 'resolvedBy' | 'resolvedAt'>>

/** An exception that is open. */
export const openException = (
  exception: Complete<Omit<ReportException, keyof Resolution>>,
): ReportException => defined(exception)

export const opensRefund = (
  exception: ReportException,
): exception is ReportException & { kind: RefundedKind } =>
  exceptionKinds[exception.kind].refund === 'opens'

/** Returns the kind of a rejected report of a status (docs/api.md#exceptions). */
export const exceptionKind = (status: Status, reported: BankCallback['status']): ReportKind =>
  reported === 'approved' ? 'refused_report' : lifecycle[status].rejects[reported]
