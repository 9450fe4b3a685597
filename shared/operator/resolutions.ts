import type { Debit } from '../domain/debits/debit.ts'
import {
  alreadyNoted,
  bankReferenceIn,
  blocksRefund,
  contradicted,
  exceptionKinds,
  isOfFailedRefund,
  opensRefund,
  type ReportException,
  refundedBefore,
  rowOf,
} from '../domain/debits/exception.ts'
import {
  newRefund,
  noteRefund,
  type Refund,
  refundStatuses,
  reportedAfter,
  retryRefund,
  type ShownRefund,
  shownRefund,
} from '../domain/debits/refund.ts'
import { isRequest } from '../domain/debits/reversal-request.ts'
import type { Reference } from '../domain/ids.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import { groupsOf } from '../store/concurrent.ts'
import { findDebit } from '../store/debits/debits.ts'
import { findExceptions, resolutionWrite } from '../store/debits/exceptions.ts'
import { findRefund, refundCreation, refundReplacement } from '../store/debits/refunds.ts'
import { changeWrites } from '../store/operator/changes.ts'
import { optimistically } from '../store/optimistic.ts'
import type { Span, Write } from '../store/table.ts'
import { transact } from '../store/transactions.ts'
import type { Once } from './bulk.ts'
import { type Author, noSuch } from './handler.ts'
import { noSuchDebit, reverseDebit } from './transitions.ts'

/** Refunds and resolves the exceptions of one debit (docs/api.md#exceptions). */

export type RefundRequest = {
  reference: Reference
  /** Only exceptions of this kind. */
  kind?: string | undefined
  reason?: string | undefined
  /** Refunds a late completion that a note resolved. */
  'despite-note'?: 'true' | undefined
}

/** @returns the refund after the call, the current one if it is open; undefined if none is allowed */
const refundAfter = (
  debit: Debit,
  current: Refund | undefined,
  exceptions: readonly ReportException[],
  { reason, at, isLost }: { reason?: string | undefined; at: Date; isLost: boolean },
): Refund | undefined => {
  if (current && refundStatuses[current.status].mayRetry) {
    const isAllowed = isLost || exceptions.some(({ kind }) => rowOf(kind)?.refund === 'retries')
    const next = debit.erasedAt ? null : (reason ?? current.reason)
    return isAllowed ? { ...retryRefund(current), reason: next } : undefined
  }
  const opening = exceptions.find(opensRefund)
  if (current || !opening) return current
  const { kind: origin, report } = opening
  const debitBankReference = bankReferenceIn(report)
  return newRefund(debit, {
    origin,
    reason: reason ?? exceptionKinds[origin].meaning,
    at,
    debitBankReference,
  })
}

/** A transaction has at most 4 MB, and a report 88 KB in base64. Others need room for three. */
const RESOLVED_MAX = 40

const DONE_BEFORE = 'another worker of a call about many has processed this debit'

/** Repeats an attempt that lost a race, unless the debit has its outcome in a call about many. */
const repeatedly = <T>(
  subject: string,
  attempt: () => Promise<T | undefined>,
  once: Once | undefined,
): Promise<T | Refusal> =>
  optimistically<T | Refusal>(subject, async (race) =>
    race > 1 && (await once?.isDone()) ? new Refusal(1409, { details: DONE_BEFORE }) : attempt(),
  )

/** Opens the refund of a late completion or retries a failed refund, and resolves its exceptions. */
export const refundDebit = (
  request: RefundRequest,
  author: Author,
  runtime: Runtime,
  once?: Once,
) => {
  // After the refund is opened, another operator may resolve the other exceptions.
  const state = { once, isOpened: false }
  const attempt = () => tryRefund(request, author, runtime, state)
  return repeatedly(`refund of ${request.reference}`, attempt, once)
}

/** A failover can lose the exception of a failed refund, or the retry that resolved it. A refund that fails now has one. */
const isExceptionLost = async (refund: Refund, read: readonly ReportException[]) => {
  const isOfRefund = (one: ReportException): boolean => isOfFailedRefund(refund, one)
  return !read.some(isOfRefund) && !(await findExceptions(refund.reference)).some(isOfRefund)
}

/**
 * Returns the refund before and after the call, and the exceptions that it resolves; or the provider's
 * request, which a reversal accepts.
 */
export const planRefund = async (
  request: RefundRequest,
  { at, isOpened }: Pick<Author, 'at'> & { isOpened?: boolean },
) => {
  const { reference, reason, kind: only } = request
  const [debit, current, exceptions] = await Promise.all([
    findDebit(reference),
    findRefund(reference),
    findExceptions(reference),
  ])
  if (!debit) return noSuchDebit()
  if (exceptions.some(blocksRefund)) return contradicted()
  const open = exceptions.filter(
    ({ kind, resolvedAt }) =>
      !resolvedAt && kind === (only ?? kind) && (rowOf(kind)?.refund ?? 'none') !== 'none',
  )
  const [other] = current && !isOpened ? reportedAfter(current, open) : []
  if (current && other) return refundedBefore(current.uuid, other)
  const noted = current ? [] : exceptions.filter((one) => one.resolvedAt && opensRefund(one))
  if (noted.length > 0 && !request['despite-note']) return alreadyNoted()
  const reasons = [...open, ...noted]
  const requested = open.find(isRequest)
  if (requested) return { requested }
  const mayBeLost = current?.status === 'failed' && (only ?? 'refund') === 'refund'
  const isLost = mayBeLost && (await isExceptionLost(current, exceptions))
  const next = shownRefund(
    reasons.length > 0 || isLost || isOpened
      ? refundAfter(debit, current, reasons, { reason, at, isLost })
      : undefined,
  )
  return next
    ? { requested: undefined, current, next, open }
    : new Refusal(1404, { details: 'no open exception of this debit allows a refund' })
}

/** @returns undefined when another writer was first */
const tryRefund = async (
  request: RefundRequest,
  author: Author,
  runtime: Runtime,
  state: { once: Once | undefined; isOpened: boolean },
): Promise<ShownRefund | Refusal | undefined> => {
  const { once, isOpened } = state
  const plan = await planRefund(request, { ...author, isOpened })
  if (plan instanceof Refusal) return plan
  const { reference } = request
  if (plan.requested) {
    const reason = request.reason ?? plan.requested.report ?? ''
    const reversal = { reference, reason, isReasonOfProvider: request.reason === undefined }
    const reversed = await reverseDebit(reversal, author, runtime, once)
    return reversed instanceof Refusal
      ? reversed
      : (shownRefund(await findRefund(reference)) ?? undefined)
  }
  const { current, next, open } = plan
  const note = `refund ${next.uuid}`
  const opening =
    next === current
      ? []
      : [current ? refundReplacement(current, next, author.at) : refundCreation(next)]
  // The others of a long list are resolved after the refund is opened, which a repeat finds.
  const writesOf = (group: readonly ReportException[], by: Author, isFirst: boolean) => {
    const recording = { ...by, target: reference, provider: next.provider }
    const kinds = group.length > 0 ? { resolved: group.map(({ kind }) => kind), note } : {}
    const previous = { refund: isFirst ? current?.uuid : next.uuid }
    if (!isFirst) state.isOpened = true
    return [
      ...(isFirst ? opening : []),
      ...changeWrites(recording, previous, { refund: next.uuid, ...kinds }),
    ]
  }
  const isWritten = await resolveGroups({ open, note, once, writesOf }, author, runtime)
  return isWritten ? next : undefined
}

type GroupedResolution = {
  open: readonly ReportException[]
  note: string
  once: Once | undefined
  /** Returns what is written with the resolutions of one group. */
  writesOf: (group: readonly ReportException[], author: Author, isFirst: boolean) => Write[]
}

/** Resolves in transactions of forty. The last one has the call's marks, so that a repeat continues. */
const resolveGroups = async (
  { open, note, once, writesOf }: GroupedResolution,
  author: Author,
  runtime: Runtime,
): Promise<boolean> => {
  const { approval: _, ...repeatable } = author
  const groups = open.length > 0 ? groupsOf(open, RESOLVED_MAX) : [[]]
  for (const [n, group] of groups.entries()) {
    const isLast = n === groups.length - 1
    const by = isLast ? author : { ...repeatable, id: runtime.newId() }
    const resolution = { note, resolvedBy: author.by, resolvedAt: runtime.now().toISOString() }
    const writes = [
      ...writesOf(group, by, n === 0),
      ...group.map((one) => resolutionWrite(one, resolution)),
      ...(isLast && once ? [once.write] : []),
    ]
    if (writes.length > 0 && !(await transact(writes, runtime))) return false
  }
  return true
}

/** Lists the exceptions of a debit, of one kind or all. */
export const listMatching = async (
  reference: Reference,
  kind: string | undefined,
): Promise<ReportException[]> =>
  (await findExceptions(reference)).filter((one) => kind === undefined || one.kind === kind)

/** Reports whether a note says more: the provider reads it, or the customer was repaid. */
const needsOwnNote = (one: ReportException) => isRequest(one) || rowOf(one.kind)?.repays === true

const isOpen = ({ resolvedAt, at }: ReportException, span: Span | undefined): boolean =>
  resolvedAt === undefined && (!span || (at >= span.from && at < span.before))

/** `span`: only the exceptions of this time. */
type Resolving = { reference: Reference; kind?: string | undefined; note: string; span?: Span }

/** Resolves the open exceptions of a debit, of one kind or all. @returns how many they were */
export const resolveExceptions = (
  { reference, kind, note, span }: Resolving,
  author: Author,
  runtime: Runtime,
  once?: Once,
): Promise<number | Refusal> => {
  const attempt = async () => {
    const exceptions = await listMatching(reference, kind)
    const open = exceptions.filter((one) => isOpen(one, span))
    const [first] = open
    // Also the resolved kinds: a repeat of a note would close what is still open.
    const kinds = new Set(exceptions.map((one) => one.kind))
    if (exceptions.length === 0) return noSuch('exception')
    if (!first) return 0
    if (kinds.size > 1 && open.some(needsOwnNote))
      return invalid({ kind: [`is required: the debit has ${[...kinds].sort().join(' and ')}`] })
    const refund = open.some((one) => rowOf(one.kind)?.repays) && (await findRefund(reference))
    const noted = refund && noteRefund(refund, open, runtime.now())
    const writesOf = (group: readonly ReportException[], by: Author, isFirst: boolean) => {
      const recording = { ...by, target: reference, provider: first.provider }
      const changes = changeWrites(recording, {}, { resolved: group.map((one) => one.kind), note })
      return noted && isFirst ? [refundReplacement(refund, noted), ...changes] : changes
    }
    const isWritten = await resolveGroups({ open, note, once, writesOf }, author, runtime)
    return isWritten ? open.length : undefined
  }
  return repeatedly(`resolution of ${reference}`, attempt, once)
}
