import type { BankIdentifier } from '../banks/bank.ts'
import { derivedUuid, type Reference, type Uuid } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import { namesOf } from '../names.ts'
import type { ProviderId } from '../providers/provider.ts'
import { laterOf } from '../time.ts'
import { type Debit, stateAt } from './debit.ts'
import {
  bankReferenceIn,
  exceptionKinds,
  isOfFailedRefund,
  opensRefund,
  type RefundedKind,
  type ReportException,
} from './exception.ts'
import { lifecycle, type Status } from './lifecycle.ts'

/** Refunds: a bank returns a debited amount to its customer (docs/api.md#refunds). */

type RefundStatusRow = {
  /** Its bank has not given the final reply: the service sends it to the bank. */
  isOpen: boolean
  /** Whether an operator may retry it, or repay the customer by hand. */
  mayRetry: boolean
  /** Whether its bank returns money: a waived refund stands for a reversal without one. */
  isInstructed: boolean
  /** Its list: `due` by its creation, or `completed` by its completion. */
  list: 'due' | 'completed'
}

export const refundStatuses = {
  pending: { isOpen: true, mayRetry: false, isInstructed: true, list: 'due' },
  processing: { isOpen: true, mayRetry: false, isInstructed: true, list: 'due' },
  completed: { isOpen: false, mayRetry: false, isInstructed: true, list: 'completed' },
  failed: { isOpen: false, mayRetry: true, isInstructed: true, list: 'due' },
  waived: { isOpen: false, mayRetry: false, isInstructed: false, list: 'completed' },
} as const satisfies Record<string, RefundStatusRow>

export type RefundStatus = keyof typeof refundStatuses
/** The statuses that providers and operators see. */
export type ShownRefundStatus = {
  [S in RefundStatus]: (typeof refundStatuses)[S]['isInstructed'] extends true ? S : never
}[RefundStatus]

const isShown = (status: RefundStatus): status is ShownRefundStatus =>
  refundStatuses[status].isInstructed

export const shownRefundStatuses = namesOf(refundStatuses).filter(isShown)
export type RefundList = RefundStatusRow['list']

/** Reasons why the service fails a refund without sending it (docs/operators.md#other-exceptions). */
export const unsentRefunds = {
  paid: 'the bank has made a refund that it rejected',
  underway: 'the bank is processing a refund that it rejected',
  contradicted: 'the bank reported a failure of the debit',
  unsupported: 'the bank does not support refunds',
} as const

/** A reversal, or an exception of that kind. */
export type RefundOrigin = 'reversal' | RefundedKind

/** Reports whether a debit in a status can have a refund. */
export const canHaveRefund = (status: Status): boolean => {
  const { adds, rejects } = lifecycle[status]
  const kinds = Object.values(rejects)
  return adds === 'refund' || kinds.some((kind) => exceptionKinds[kind].refund === 'opens')
}

export type Refund = {
  /** The bank deduplicates instructions by it. A retry after a rejection has a new one. */
  uuid: Uuid
  /** The reference of the debit, which has at most one refund. */
  reference: Reference
  debitUuid: Uuid
  provider: ProviderId
  /** At the charge. */
  providerName: string
  bank: BankIdentifier
  amount: Pesewas
  /** The bank's reference of the debit, and the customer's account; null when unknown. */
  debitBankReference: string | null
  accountNumber: string | null
  origin: RefundOrigin
  /** Null after an erasure. */
  reason: string | null
  status: RefundStatus
  createdAt: Date
  processedAt: Date | null
  /** When a worker last began to send it; null while it is pending. */
  sentAt: Date | null
  completedAt: Date | null
  failedAt: Date | null
  /** When an operator noted that the customer was repaid. Absent: never, or by an earlier version. */
  notedAt?: Date
  /** Why the bank rejected it, or why it cannot be sent. */
  failure: string | null
  /** The bank's reference of the refund. */
  bankReference: string | null
  /** Earlier instructions, each of which failed. */
  failed: readonly { uuid: Uuid; failedAt: Date; failure: string }[]
  version: number
}

const uuidOf = (reference: Reference, attempt: number): Uuid =>
  derivedUuid(`refund#${reference}#${attempt}`)

type RefundCause = {
  origin: RefundOrigin
  reason: string | null
  at: Date
  /** From the late report: the debit may have the one of the attempt that failed. */
  debitBankReference?: string | undefined
}

export const newRefund = (
  debit: Debit,
  { origin, reason, at, debitBankReference }: RefundCause,
): Refund => {
  const { reference, uuid, provider, providerName, bank, amount } = debit.facts
  const { bankReference, accountNumber } = stateAt(debit)
  return {
    uuid: uuidOf(reference, 1),
    reference,
    debitUuid: uuid,
    provider,
    providerName,
    bank: bank.identifier,
    amount,
    debitBankReference: debitBankReference ?? bankReference ?? null,
    accountNumber,
    origin,
    reason: debit.erasedAt ? null : reason,
    status: 'pending',
    createdAt: at,
    processedAt: null,
    sentAt: null,
    completedAt: null,
    failedAt: null,
    failure: null,
    bankReference: null,
    failed: [],
    version: 1,
  }
}

/** Returns the first refund of a reversal, derived from the debit alone, so that its event never changes. */
export const reversalRefund = (debit: Debit): Refund => {
  const reversed = debit.history.findIndex(({ type }) => type === 'reversed')
  const { metadata, updatedAt: at, refund: waiver } = stateAt(debit, reversed)
  const reason = metadata && String(metadata.reversal_reason ?? '')
  const refund = newRefund(debit, { origin: 'reversal', reason, at })
  return waiver === null ? refund : { ...refund, status: 'waived', completedAt: at }
}

/** Returns other references of the bank in reports that came after a refund which it has made. */
export const reportedAfter = (
  { status, createdAt, debitBankReference }: Refund,
  open: readonly ReportException[],
): string[] =>
  open.flatMap((one) => {
    const isAfter = status === 'completed' && opensRefund(one) && one.at > createdAt
    const reference = isAfter ? bankReferenceIn(one.report) : undefined
    return reference && reference !== debitBankReference ? [reference] : []
  })

export type ShownRefund = Refund & { status: ShownRefundStatus }

const isShownRefund = (refund: Refund): refund is ShownRefund => isShown(refund.status)

/** Returns the refund that providers and operators see; null without one. */
export const shownRefund = (refund: Refund | undefined): ShownRefund | null =>
  refund && isShownRefund(refund) ? refund : null

/** Marks a refund before each time that it is sent. */
export const sendRefund = (refund: Refund, at: Date): Refund => ({
  ...refund,
  status: 'processing',
  processedAt: refund.processedAt ?? laterOf(refund.createdAt, at),
  sentAt: at,
})

export const completeRefund = (
  refund: Refund,
  { bankReference, at }: { bankReference: string; at: Date },
): Refund => ({
  ...refund,
  status: 'completed',
  bankReference,
  completedAt: laterOf(refund.createdAt, at),
})

export const failRefund = (
  refund: Refund,
  { failure, at }: { failure: string; at: Date },
): Refund => ({ ...refund, status: 'failed', failure, failedAt: laterOf(refund.createdAt, at) })

/** Notes that an operator repaid the customer, if a failed refund has one of these exceptions. */
export const noteRefund = (
  refund: Refund,
  exceptions: readonly ReportException[],
  notedAt: Date,
): Refund | undefined =>
  refundStatuses[refund.status].mayRetry && exceptions.some((one) => isOfFailedRefund(refund, one))
    ? { ...refund, notedAt }
    : undefined

export const retryRefund = (refund: Refund): Refund => {
  const { uuid, failedAt, failure } = refund
  if (!failedAt || failure === null) throw new Error(`Refund ${uuid} has not failed`)
  const failed = [...refund.failed, { uuid, failedAt, failure }]
  return {
    ...refund,
    uuid: uuidOf(refund.reference, failed.length + 1),
    status: 'pending',
    processedAt: null,
    sentAt: null,
    failedAt: null,
    failure: null,
    failed,
  }
}
