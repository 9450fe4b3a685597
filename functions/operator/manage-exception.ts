import * as v from 'valibot'
import { BankReference } from '../../shared/domain/debits/bank-update.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import {
  blocksRefund,
  contradicted,
  type ExceptionKind,
  type ExceptionStatus,
  exceptionKinds,
  exceptionStatuses,
  opensRefund,
  type ReportException,
  rowOf,
} from '../../shared/domain/debits/exception.ts'
import {
  newRefund,
  type Refund,
  refundStatuses,
  retryRefund,
  shownRefund,
} from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { parseJson } from '../../shared/domain/json.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { newestFirst } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { exception as noun } from '../../shared/operator/nouns/debits.ts'
import type { ResultOf } from '../../shared/operator/results.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import {
  exceptionPages,
  findExceptions,
  resolutionWrite,
} from '../../shared/store/debits/exceptions.ts'
import { findRefund, refundCreation, refundReplacement } from '../../shared/store/debits/refunds.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { optimistically } from '../../shared/store/optimistic.ts'
import { transact } from '../../shared/store/transactions.ts'
import { exceptionView as view } from '../../shared/views/operator/exception.ts'
import { refundView } from '../../shared/views/refund.ts'

type Filter = { kind?: ExceptionKind | undefined; limit: number }

const listNewest = async (status: ExceptionStatus, { kind, limit }: Filter) => {
  const exceptions: ReportException[] = []
  for await (const page of exceptionPages(status)) {
    exceptions.push(...page.filter((exception) => kind === undefined || exception.kind === kind))
    if (exceptions.length >= limit) break
  }
  return exceptions
}

/** Parses the bank's reference in a report; the debit may have none. */
const referenceIn = (report: string): string | undefined => {
  const parsed = v.safeParse(v.object({ bank_reference: BankReference }), parseJson(report))
  return parsed.success ? parsed.output.bank_reference : undefined
}

type RefundRequest = {
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
  { reason, at }: { reason?: string | undefined; at: Date },
): Refund | undefined => {
  if (current && refundStatuses[current.status].mayRetry) {
    const isAllowed = exceptions.some(({ kind }) => rowOf(kind)?.refund === 'retries')
    return isAllowed ? { ...retryRefund(current), reason: reason ?? current.reason } : undefined
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

/** A transaction has 100 writes; the refund, its record and a granted request need three. */
const RESOLVED_MAX = 97

/**
 * Opens the refund of a late completion or retries a failed refund, and resolves its exceptions
 * (docs/api.md#exceptions).
 */
const refund = (request: RefundRequest, author: Author, runtime: Runtime) =>
  optimistically(`refund of ${request.reference}`, () => tryRefund(request, author, runtime))

/** Returns the refund before and after the call, and the exceptions that it resolves. */
const planRefund = async (request: RefundRequest, { at }: Author) => {
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
  const next = shownRefund(
    debit && reasons.length > 0 ? refundAfter(debit, current, reasons, { reason, at }) : undefined,
  )
  return next
    ? { current, next, open }
    : new Refusal(1404, { details: 'no open exception of this debit allows a refund' })
}

/** @returns undefined when another writer was first */
const tryRefund = async (
  request: RefundRequest,
  author: Author,
  runtime: Runtime,
): Promise<ResultOf<'exception', 'refund'> | Refusal | undefined> => {
  const plan = await planRefund(request, author)
  if (plan instanceof Refusal) return plan
  const { reference } = request
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
  ]
  if (writes.length > 0 && !(await transact(writes, runtime))) return undefined
  await resolveAll(open.slice(RESOLVED_MAX), note, author, runtime)
  return { reference, refund: refundView(next, formatAmount) }
}

const resolutionOf = (note: string, { by }: Author, { now }: Runtime) => ({
  note,
  resolvedBy: by,
  resolvedAt: now().toISOString(),
})

/** Resolves the open exceptions one by one: a repeated call resolves the remaining ones. */
const resolveAll = async (
  exceptions: readonly ReportException[],
  note: string,
  { approval, ...author }: Author,
  runtime: Runtime,
) => {
  for (const exception of exceptions.filter(({ resolvedAt }) => resolvedAt === undefined)) {
    const { reference, provider, kind } = exception
    const recording = { ...author, id: runtime.newId(), target: reference, provider }
    const record = changeWrites(recording, {}, { resolved: kind, note })
    const resolution = resolutionWrite(exception, resolutionOf(note, author, runtime))
    await transact([resolution, ...record], runtime)
  }
}

export const manageException = operatorHandler(noun, {
  list: async ({ status, ...filter }) => {
    const statuses = status ? [status] : exceptionStatuses
    const lists = await Promise.all(statuses.map((status) => listNewest(status, filter)))
    return lists.flat().sort(newestFirst).slice(0, filter.limit).map(view)
  },
  show: async ({ reference }) => {
    const exceptions = await findExceptions(reference)
    return exceptions.length > 0 ? exceptions.sort(newestFirst).map(view) : noSuch('exception')
  },
  refund: { run: refund, check: planRefund },
  /** One resolution covers all open exceptions of a debit, because banks repeat reports. */
  resolve: async ({ reference, kind, note }, author, runtime) => {
    const listMatching = async () =>
      (await findExceptions(reference)).filter(
        (exception) => kind === undefined || exception.kind === kind,
      )
    const exceptions = await listMatching()
    if (exceptions.length === 0) return noSuch('exception')
    await resolveAll(exceptions, note, author, runtime)
    return (await listMatching()).sort(newestFirst).map(view)
  },
})

export const handler = manageException(real)
