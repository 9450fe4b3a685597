import * as v from 'valibot'
import { BankReference } from '../../shared/domain/debits/bank-update.ts'
import type { ExceptionKind, ReportException } from '../../shared/domain/debits/exception.ts'
import { newRefund, refundView, retryRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { exception } from '../../shared/operator/nouns/exception.ts'
import { real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import {
  type ExceptionStatus,
  exceptionPages,
  findExceptions,
  resolveException,
} from '../../shared/store/debits/exceptions.ts'
import { findRefund, refundCreation, refundReplacement } from '../../shared/store/debits/refunds.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { transact } from '../../shared/store/transactions.ts'

const view = (exception: ReportException) => ({
  reference: exception.reference,
  kind: exception.kind,
  at: exception.at.toISOString(),
  provider: exception.provider,
  bank: exception.bank,
  amount: formatAmount(exception.amount),
  debit_status: exception.status ?? null,
  code: exception.code ?? null,
  details: exception.details ?? null,
  report: exception.report,
  reported_by: exception.by,
  request_id: exception.requestId,
  resolved_at: exception.resolvedAt ?? null,
  resolved_by: exception.resolvedBy ?? null,
  note: exception.note ?? null,
})

const unknown = () => new Refusal(1404, { details: 'no such exception' })

const newestFirst = (one: ReportException, other: ReportException): number =>
  other.at.getTime() - one.at.getTime()

type Wanted = { kind?: ExceptionKind | undefined; limit: number }

const listOf = async (status: ExceptionStatus, { kind, limit }: Wanted) => {
  const found: ReportException[] = []
  for await (const page of exceptionPages(status)) {
    found.push(...page.filter((one) => kind === undefined || one.kind === kind))
    if (found.length >= limit) break
  }
  return found
}

const REASON = 'The bank debited the customer after the debit had failed'

/** The bank's reference in a late completion report, which its debit may not have. */
const referenceIn = (report: string): string | undefined => {
  try {
    const parsed = v.safeParse(BankReference, JSON.parse(report).bank_reference)
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}

/**
 * Opens the refund of a late completion or retries a failed refund, then resolves the exceptions
 * that ask for it. A repeated call after a crash in between resolves the remaining ones.
 */
const refund = async (
  { reference, reason }: { reference: Reference; reason?: string | undefined },
  author: Author,
): Promise<unknown> => {
  const [debit, current, exceptions] = await Promise.all([
    findDebit(reference),
    findRefund(reference),
    findExceptions(reference),
  ])
  const open = exceptions.filter(
    ({ kind, resolvedAt }) => !resolvedAt && (kind === 'refund' || kind === 'late_completion'),
  )
  const late = open.find(({ kind }) => kind === 'late_completion')
  const isRetry = current?.status === 'failed'
  const asksForIt = isRetry ? open.some(({ kind }) => kind === 'refund') : current || late
  if (!debit || open.length === 0 || !asksForIt) {
    return new Refusal(1404, { details: 'no open exception of this debit allows a refund' })
  }
  const { at } = author
  const debitBankReference = late && referenceIn(late.report)
  const next = !current
    ? newRefund(debit, {
        origin: 'late_completion',
        reason: reason ?? REASON,
        at,
        debitBankReference,
      })
    : isRetry
      ? { ...retryRefund(current), reason: reason ?? current.reason }
      : current
  if (next !== current) {
    const recording = { ...author, target: reference, provider: next.provider }
    const writes = [
      current ? refundReplacement(current, next) : refundCreation(next),
      ...changeWrites(recording, { refund: current?.uuid }, { refund: next.uuid }),
    ]
    if (!(await transact(writes, real))) return refund({ reference, reason }, author)
  }
  await resolveAll(open, `refund ${next.uuid}`, author)
  return { reference, refund: refundView(next, formatAmount) }
}

const resolveAll = async (
  exceptions: readonly ReportException[],
  note: string,
  author: Author,
): Promise<void> => {
  const resolution = { note, resolvedBy: author.by, resolvedAt: real.now().toISOString() }
  for (const one of exceptions.filter(({ resolvedAt }) => resolvedAt === undefined)) {
    const recording = {
      ...author,
      id: real.newId(),
      target: one.reference,
      provider: one.provider,
    }
    await resolveException(
      one,
      resolution,
      changeWrites(recording, {}, { resolved: one.kind, note }),
    )
  }
}

export const handler = operatorHandler(exception, {
  list: async ({ status, ...wanted }) => {
    const statuses: ExceptionStatus[] = status ? [status] : ['open', 'resolved']
    const found = await Promise.all(statuses.map((one) => listOf(one, wanted)))
    return found.flat().sort(newestFirst).slice(0, wanted.limit).map(view)
  },
  show: async ({ reference }) => {
    const found = await findExceptions(reference)
    return found.length > 0 ? found.sort(newestFirst).map(view) : unknown()
  },
  refund,
  /** A bank may repeat a report; one resolution covers all open exceptions of the debit. */
  resolve: async ({ reference, kind, note }, author) => {
    const matching = async () =>
      (await findExceptions(reference)).filter((one) => kind === undefined || one.kind === kind)
    const found = await matching()
    if (found.length === 0) return unknown()
    await resolveAll(found, note, author)
    return (await matching()).sort(newestFirst).map(view)
  },
})
