import type { Cause, Debit } from '../domain/debits/debit.ts'
import {
  impersonal,
  openException,
  type ReportKind,
  resolvedIfRepeated,
} from '../domain/debits/exception.ts'
import type { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { findExceptions, putException } from '../store/debits/exceptions.ts'

type Rejection = {
  kind: ReportKind
  refusal: Refusal
  report: string
  cause: Cause
  status?: Debit['status']
}

/**
 * Stores a rejected report as an exception, with the body as the bank sent it (docs/api.md#exceptions),
 * unless the customer was erased.
 */
export const recordRejection = async (
  { facts, erasedAt }: Debit,
  { kind, refusal, report, cause, status }: Rejection,
): Promise<void> => {
  const { reference, provider, bank, amount } = facts
  const rejected = openException({
    reference,
    kind,
    provider,
    bank: bank.identifier,
    amount,
    ...cause,
    status,
    details: erasedAt ? undefined : refusal.details,
    code: refusal.code,
    report: erasedAt ? impersonal(report) : report,
    request: undefined,
  })
  const exception = resolvedIfRepeated(rejected, await findExceptions(reference))
  await putException(exception)
  log.error('bank report rejected', {
    kind,
    reference,
    bank: bank.identifier,
    code: refusal.code,
    request_id: cause.requestId,
  })
}
