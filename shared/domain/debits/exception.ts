import * as v from 'valibot'
import type { BankIdentifier } from '../banks/bank.ts'
import { type Complete, defined } from '../complete.ts'
import type { Reference } from '../ids.ts'
import { parseJson } from '../json.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId } from '../providers/provider.ts'
import { type Details, type ErrorCode, Refusal } from '../refusal.ts'
import type { Day } from '../time.ts'
import { type BankCallback, BankReference, type BankUpdate } from './bank-update.ts'
import { lifecycle, type Status } from './lifecycle.ts'

type ExceptionRow = {
  /** A bank's report that the service rejected, a refund that failed, or a provider's request. */
  source: 'report' | 'refund' | 'request'
  /** Whether the bank reports another end of the debit than the service has. */
  contradicts: boolean
  /** The effect of `exception refund`, which resolves the exception; `none`: not allowed. */
  refund: 'opens' | 'retries' | 'reverses' | 'none'
  /** Whether no refund of the debit may be opened or retried while it is open. */
  blocksRefund: boolean
  /** The account of the ledger that has the amount until an operator decides; null: none. */
  account: 'exceptions' | null
  /** Whether a note means that an operator repaid the customer of the refund by hand. */
  repays: boolean
  /** A sentence for operators, without a full stop. */
  meaning: string
  /** The metric that counts exceptions of this kind. */
  metric: string
}

/** Why a debit needs an operator. */
export const exceptionKinds = {
  late_completion: {
    source: 'report',
    contradicts: true,
    refund: 'opens',
    blocksRefund: false,
    account: 'exceptions',
    repays: false,
    meaning: 'The bank debited the customer after the debit had ended without it',
    metric: 'LateCompletion',
  },
  refused_report: {
    source: 'report',
    contradicts: false,
    refund: 'none',
    blocksRefund: false,
    account: null,
    repays: false,
    meaning: 'The service cannot apply the report',
    metric: 'RefusedReport',
  },
  contradiction: {
    source: 'report',
    contradicts: true,
    refund: 'none',
    blocksRefund: true,
    account: null,
    repays: false,
    meaning: 'The bank reports a failure after the debit was completed',
    metric: 'Contradiction',
  },
  refund: {
    source: 'refund',
    contradicts: false,
    refund: 'retries',
    blocksRefund: false,
    account: null,
    repays: true,
    meaning: 'The bank did not refund the customer',
    metric: 'RefundFailed',
  },
  reversal_request: {
    source: 'request',
    contradicts: false,
    refund: 'reverses',
    blocksRefund: false,
    account: null,
    repays: false,
    meaning: 'The provider asks to return the amount to the customer',
    metric: 'ReversalRequested',
  },
} as const satisfies Record<string, ExceptionRow>

export type ExceptionRows = typeof exceptionKinds
export type ExceptionKind = keyof ExceptionRows

const rows: Record<string, ExceptionRows[ExceptionKind]> = exceptionKinds

/**
 * Returns the row of a stored kind; undefined if a later version wrote it
 * (docs/architecture.md#two-versions-run-at-the-same-time).
 */
export const rowOf = (kind: string) => rows[kind]

type KindsWhere<Part> = {
  [K in ExceptionKind]: ExceptionRows[K] extends Part ? K : never
}[ExceptionKind]

/** The kinds of rejected bank reports. */
export type ReportKind = KindsWhere<{ source: 'report' }>
/** The kinds for which `exception refund` opens the refund of the debit. */
export type RefundedKind = KindsWhere<{ refund: 'opens' }>

export const exceptionStatuses = ['open', 'resolved'] as const
export type ExceptionStatus = (typeof exceptionStatuses)[number]

/** A rejected bank report, a failed refund or a request of a provider (docs/api.md#exceptions). */
export type ReportException = {
  reference: Reference
  /** Any text, because a later version may have written it: ask `rowOf`. */
  kind: string
  at: Date
  provider: ProviderId
  bank: BankIdentifier
  amount: Pesewas
  /**
   * `bank:GCB`, `provider:demo`, `job:refund-customer` for a refund that cannot be sent, or `operator:NAME` for
   * one that its bank will not make.
   */
  by: string
  /** The uuid of the refund, for a failed refund. */
  requestId: string
  /** The status of the debit when the report arrived; absent when the body was unreadable. */
  status?: Status
  /** The response to the bank; absent for a failed refund. */
  code?: ErrorCode
  details?: Details
  /**
   * The original body, cut at 64 KiB: text, or `base64:` and base64 if not UTF-8. For a failed
   * refund: the failure. For a request: its reason. After an erasure its outcome alone, or null.
   */
  report: string | null
  /** Of a request: what the provider asks for, and the last day for a decision. */
  request?: { kind: 'refund' | 'complaint'; respondBy: Day }
  resolvedAt?: string
  resolvedBy?: string
  note?: string
  /** Whether the debit of a request was reversed. */
  isAccepted?: boolean
}

export type Resolution = Required<Pick<ReportException, 'note' | 'resolvedBy' | 'resolvedAt'>>

/** The members of a report that state its outcome, and never name a customer. */
const statesOutcome: Record<keyof BankUpdate, boolean> = {
  status: true,
  bank_reference: true,
  approval_method: false,
  fee: false,
  error_message: false,
  metadata: false,
}

const Outcome = v.object(
  v.entriesFromList(
    Object.entries(statesOutcome).flatMap(([member, isStated]) => (isStated ? member : [])),
    v.string(),
  ),
)

/** Returns what a decision needs of a report, without texts that may name an erased customer. */
export const outcomeIn = (report: string): string | null => {
  const { success, output } = v.safeParse(Outcome, parseJson(report))
  return success ? JSON.stringify(output) : null
}

/** Returns the bank's reference in a report; the debit may have none. */
export const bankReferenceIn = (report: string | null): string | undefined => {
  const parsed = v.safeParse(v.object({ bank_reference: BankReference }), parseJson(report ?? ''))
  return parsed.success ? parsed.output.bank_reference : undefined
}

/** Reports whether a bank sent the same outcome again, or else the same text. */
const isSameReport = (one: string | null, other: string | null): boolean => {
  if (one === null || other === null) return false
  const outcome = outcomeIn(one)
  return one === other || (outcome !== null && outcome === outcomeIn(other))
}

/**
 * Returns an exception as resolved if it repeats reports that operators have resolved: banks repeat
 * reports, and a decision stays (docs/api.md#exceptions).
 */
export const resolvedIfRepeated = (
  exception: ReportException,
  earlier: readonly ReportException[],
): ReportException => {
  const same = earlier.filter(
    ({ kind, report }) => kind === exception.kind && isSameReport(report, exception.report),
  )
  const { note, resolvedBy, resolvedAt } = same.at(-1) ?? {}
  const isDecided = same.every((one) => one.resolvedAt !== undefined)
  return isDecided ? defined({ ...exception, note, resolvedBy, resolvedAt }) : exception
}

export const contradicted = () =>
  new Refusal(1409, {
    details:
      'the bank reported a failure of this completed debit: resolve the exception, or reverse with --refund none',
  })

export const alreadyNoted = () =>
  new Refusal(1409, {
    details:
      'a note says that the customer has the money of a late completion: if not, --despite-note true refunds it',
  })

export const refundedBefore = (uuid: string, other: string) =>
  new Refusal(1409, {
    details: `its refund ${uuid} is completed: if ${other} is another debit, the bank returns it; resolve the exception with a note`,
  })

/** Returns the refund that resolved an exception, named by its note. */
export const refundIn = ({ note = '' }: Pick<ReportException, 'note'>): string | undefined =>
  /^refund ([0-9a-f-]{36})$/.exec(note)?.[1]

/**
 * Reports whether an exception is that of a failed refund. A failover can lose the retry that resolved it,
 * which its note names.
 */
export const isOfFailedRefund = (refund: { uuid: string }, exception: ReportException): boolean =>
  exception.requestId === refund.uuid && !refundIn(exception)

/** Reports whether no refund of the debit may be opened or retried (docs/api.md#refunds). */
export const blocksRefund = ({ kind, resolvedAt }: ReportException): boolean =>
  resolvedAt === undefined && rowOf(kind)?.blocksRefund === true

/** Messages of the service itself name nobody. */
export const isOwnMessage = (by: string): boolean => by.startsWith('job:')

type NewException = Complete<Omit<ReportException, keyof Resolution | 'isAccepted'>> & {
  kind: ExceptionKind
  report: string
}

/** Returns an open exception: without new text about a customer who was erased from the debit. */
export const openException = (
  { report, details, ...exception }: NewException,
  erasedAt: Date | undefined,
): ReportException =>
  defined(
    erasedAt && !isOwnMessage(exception.by)
      ? { ...exception, report: outcomeIn(report) }
      : { ...exception, report, details },
  )

export const opensRefund = (
  exception: ReportException,
): exception is ReportException & { kind: RefundedKind } =>
  rowOf(exception.kind)?.refund === 'opens'

/** Returns the kind of a rejected report of a status (docs/api.md#exceptions). */
export const exceptionKind = (status: Status, reported: BankCallback['status']): ReportKind =>
  reported === 'approved' ? 'refused_report' : lifecycle[status].rejects[reported]
