import type { Shows } from '../../domain/complete.ts'
import { type ReportException, rowOf } from '../../domain/debits/exception.ts'
import { formatAmount } from '../../domain/money.ts'

export type ExceptionResult = ReturnType<typeof exceptionView>

export const exceptionView = (exception: ReportException) =>
  ({
    reference: exception.reference,
    kind: exception.kind,
    meaning: rowOf(exception.kind)?.meaning ?? null,
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
  }) satisfies Shows<ReportException, 'status' | 'by'>
