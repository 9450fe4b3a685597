import * as v from 'valibot'
import { BankReference } from '../domain/debits/bank-update.ts'
import type { Debit } from '../domain/debits/debit.ts'
import {
  blocksRefund,
  contradicted,
  exceptionKinds,
  opensRefund,
  type ReportException,
  refundIn,
  rowOf,
} from '../domain/debits/exception.ts'
import {
  newRefund,
  type Refund,
  refundStatuses,
  retryRefund,
  type ShownRefund,
  shownRefund,
} from '../domain/debits/refund.ts'
import { isRequest } from '../domain/debits/reversal-request.ts'
import type { Reference } from '../domain/ids.ts'
import { parseJson } from '../domain/json.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import { findDebit } from '../store/debits/debits.ts'
import { findExceptions, resolutionWrite } from '../store/debits/exceptions.ts'
import { findRefund, refundCreation, refundReplacement } from '../store/debits/refunds.ts'
import { changeWrites } from '../store/operator/changes.ts'
import { optimistically } from '../store/optimistic.ts'
import { transact } from '../store/transactions.ts'
import type { Once } from './bulk.ts'
import { type Author, noSuch } from './handler.ts'
import { reverseDebit } from './transitions.ts'

/** Refunds and resolves the exceptions of one debit (docs/api.md#exceptions). */

/** Parses the bank's reference in a report; the debit may have none. */
const referenceIn = (report: string | null): string | undefined => {
  const parsed = v.safeParse(v.object({ bank_reference: BankReference }), parseJson(report ?? ''))
  return parsed.success ? parsed.output.bank_reference : undefined
}

export type RefundRequest = {
  reference: Reference
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
  const debitBankReference = referenceIn(report)
  return newRefund(debit, {
    origin,
    reason: reason ?? exceptionKinds[origin].meaning,
    at,
    debitBankReference,
  })
}

const alreadyNoted = () =>
  new Refusal(1409, {
    details: 'a note resolved a late completion of this debit: --despite-note true refunds it too',
  })

/** A transaction has at most 4 MB of items, and a bank's report 64 KB. Others need room for three. */
const RESOLVED_MAX = 50

/** Another worker of a call about many was first. */
const doneBefore = () => new Refusal(1409, { details: 'another worker has processed this debit' })

/** Repeats an attempt that lost a race, unless the debit has its outcome in a call about many. */
const repeatedly = <T>(
  subject: string,
  attempt: () => Promise<T | undefined>,
  once: Once | undefined,
): Promise<T | Refusal> =>
  optimistically<T | Refusal>(subject, async (race) =>
    race > 1 && (await once?.isDone()) ? doneBefore() : attempt(),
  )

/** Opens the refund of a late completion or retries a failed refund, and resolves its exceptions. */
export const refundDebit = (
  request: RefundRequest,
  author: Author,
  runtime: Runtime,
  once?: Once,
) =>
  repeatedly(
    `refund of ${request.reference}`,
    () => tryRefund(request, author, runtime, once),
    once,
  )

/** A failover can lose the exception of a failed refund, or the retry that resolved it. A refund that fails now has one. */
const isExceptionLost = async ({ uuid, reference }: Refund, read: readonly ReportException[]) => {
  const isOfRefund = (one: ReportException): boolean => one.requestId === uuid && !refundIn(one)
  return !read.some(isOfRefund) && !(await findExceptions(reference)).some(isOfRefund)
}

/**
 * Returns the refund before and after the call, and the exceptions that it resolves; or the provider's
 * request, which a reversal accepts.
 */
export const planRefund = async (request: RefundRequest, { at }: Pick<Author, 'at'>) => {
  const { reference, reason } = request
  const [debit, current, exceptions] = await Promise.all([
    findDebit(reference),
    findRefund(reference),
    findExceptions(reference),
  ])
  if (exceptions.some(blocksRefund)) return contradicted()
  const open = exceptions.filter(
    ({ kind, resolvedAt }) => !resolvedAt && (rowOf(kind)?.refund ?? 'none') !== 'none',
  )
  const noted = current ? [] : exceptions.filter((one) => one.resolvedAt && opensRefund(one))
  if (noted.length > 0 && !request['despite-note']) return alreadyNoted()
  const reasons = [...open, ...noted]
  const requested = open.find(isRequest)
  if (requested) return { requested }
  const isLost = current?.status === 'failed' && (await isExceptionLost(current, exceptions))
  const next = shownRefund(
    debit && (reasons.length > 0 || isLost)
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
  once: Once | undefined,
): Promise<ShownRefund | Refusal | undefined> => {
  const plan = await planRefund(request, author)
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
  const resolved = open.slice(0, RESOLVED_MAX)
  const recording = { ...author, target: reference, provider: next.provider }
  const kinds = resolved.length > 0 ? { resolved: resolved.map(({ kind }) => kind), note } : {}
  const writes = [
    ...(next === current
      ? []
      : [current ? refundReplacement(current, next, author.at) : refundCreation(next)]),
    ...resolved.map((exception) => resolutionWrite(exception, resolutionOf(note, author, runtime))),
    ...changeWrites(recording, { refund: current?.uuid }, { refund: next.uuid, ...kinds }),
    ...(once ? [once.write] : []),
  ]
  if (writes.length > 0 && !(await transact(writes, runtime))) return undefined
  await resolveAll(open.slice(RESOLVED_MAX), note, author, runtime)
  return next
}

const resolutionOf = (note: string, { by }: Author, { now }: Runtime) => ({
  note,
  resolvedBy: by,
  resolvedAt: now().toISOString(),
})

const isOpen = ({ resolvedAt }: ReportException): boolean => resolvedAt === undefined

/** Resolves the open exceptions one by one: a repeated call resolves the remaining ones. */
export const resolveAll = async (
  exceptions: readonly ReportException[],
  note: string,
  { approval, ...author }: Author,
  runtime: Runtime,
) => {
  for (const exception of exceptions.filter(isOpen)) {
    const { reference, provider, kind } = exception
    const recording = { ...author, id: runtime.newId(), target: reference, provider }
    const record = changeWrites(recording, {}, { resolved: kind, note })
    const resolution = resolutionWrite(exception, resolutionOf(note, author, runtime))
    await transact([resolution, ...record], runtime)
  }
}

/** Lists the exceptions of a debit, of one kind or all. */
export const listMatching = async (
  reference: Reference,
  kind: string | undefined,
): Promise<ReportException[]> =>
  (await findExceptions(reference)).filter((one) => kind === undefined || one.kind === kind)

/** Reports whether one note would go to a provider and also close a case that it must not read about. */
export const mixesRequests = (exceptions: readonly ReportException[]): boolean => {
  const open = exceptions.filter(isOpen)
  return open.some(isRequest) && !open.every(isRequest)
}

export const kindIsMissing = () =>
  invalid({ kind: ['is required: the provider reads the note of a reversal_request'] })

type Resolving = { reference: Reference; kind?: string | undefined; note: string }

/** Resolves the exceptions of a debit in a call about many. @returns how many were open */
export const resolveOnce = (
  { reference, kind, note }: Resolving,
  author: Author,
  runtime: Runtime,
  once: Once,
): Promise<number | Refusal> => {
  const attempt = async () => {
    const exceptions = await listMatching(reference, kind)
    const [first, ...others] = exceptions.filter(isOpen)
    if (exceptions.length === 0) return noSuch('exception')
    if (mixesRequests(exceptions)) return kindIsMissing()
    if (!first) return 0
    const resolved = [first, ...others.slice(0, RESOLVED_MAX - 1)]
    const recording = { ...author, target: reference, provider: first.provider }
    const writes = [
      ...resolved.map((one) => resolutionWrite(one, resolutionOf(note, author, runtime))),
      ...changeWrites(recording, {}, { resolved: resolved.map((one) => one.kind), note }),
      once.write,
    ]
    if (!(await transact(writes, runtime))) return undefined
    await resolveAll(others.slice(RESOLVED_MAX - 1), note, author, runtime)
    return others.length + 1
  }
  return repeatedly(`resolution of ${reference}`, attempt, once)
}
