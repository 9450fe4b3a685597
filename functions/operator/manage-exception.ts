import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import type { ExceptionKind, ReportException } from '../../shared/domain/report-exception.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { exception } from '../../shared/operator/nouns/exception.ts'
import { real } from '../../shared/runtime.ts'
import { changeWrites } from '../../shared/store/changes.ts'
import {
  type ExceptionStatus,
  exceptionPages,
  findExceptions,
  resolveException,
} from '../../shared/store/exceptions.ts'

const view = (exception: ReportException) => ({
  reference: exception.reference,
  kind: exception.kind,
  at: exception.at.toISOString(),
  provider: exception.provider,
  bank: exception.bank,
  amount: formatAmount(exception.amount),
  debit_status: exception.status ?? null,
  code: exception.code,
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
  /** A bank may repeat a report; one resolution covers all open exceptions of the debit. */
  resolve: async ({ reference, kind, note }, author) => {
    const matching = async () =>
      (await findExceptions(reference)).filter((one) => kind === undefined || one.kind === kind)
    const found = await matching()
    if (found.length === 0) return unknown()
    const resolution = { note, resolvedBy: author.by, resolvedAt: real.now().toISOString() }
    for (const one of found.filter(({ resolvedAt }) => resolvedAt === undefined)) {
      const id = real.newId()
      const recording = { ...author, id, target: reference, provider: one.provider }
      const record = changeWrites(recording, {}, { resolved: one.kind, note })
      await resolveException(one, resolution, record)
    }
    return (await matching()).sort(newestFirst).map(view)
  },
})
