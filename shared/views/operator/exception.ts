import type { Shows } from '../../domain/complete.ts'
import { type ReportException, rowOf } from '../../domain/debits/exception.ts'
import type { countRequests, RequestKind } from '../../domain/debits/reversal-request.ts'
import { formatAmount } from '../../domain/money.ts'
import type { Month } from '../../domain/time.ts'

/** The reversal requests of a month, by kind (docs/operators.md#decide-on-a-reversal-request). */
export type RequestsSummary = { month: Month } & Record<
  RequestKind,
  ReturnType<typeof countRequests>
>

export type ExceptionResult = ReturnType<typeof exceptionView>

export const exceptionView = (exception: ReportException) =>
  ({
    reference: exception.reference,
    kind: exception.kind,
    amount: formatAmount(exception.amount),
    bank: exception.bank,
    report: exception.report,
    at: exception.at.toISOString(),
    provider: exception.provider,
    meaning: rowOf(exception.kind)?.meaning ?? null,
    debit_status: exception.status ?? null,
    code: exception.code ?? null,
    details: exception.details ?? null,
    reported_by: exception.by,
    request_id: exception.requestId,
    resolved_at: exception.resolvedAt ?? null,
    resolved_by: exception.resolvedBy ?? null,
    note: exception.note ?? null,
    request: exception.request
      ? { kind: exception.request.kind, respond_by: exception.request.respondBy }
      : null,
    is_accepted: exception.isAccepted ?? null,
  }) satisfies Shows<ReportException, 'status' | 'by'>
