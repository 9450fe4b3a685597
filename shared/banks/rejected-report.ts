import { noneRemain } from '../domain/complete.ts'
import type { Cause, Debit } from '../domain/debits/debit.ts'
import {
  exceptionKind,
  openException,
  type ReportKind,
  resolvedIfRepeated,
} from '../domain/debits/exception.ts'
import type { BankOutcome } from '../domain/debits/submission.ts'
import { formatAmount } from '../domain/money.ts'
import type { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { findLastExceptions, putException } from '../store/debits/exceptions.ts'

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
  const { details, code } = refusal
  const opened = {
    ...{ reference, kind, provider, bank: bank.identifier, amount, ...cause, status },
    ...{ details, code, report, request: undefined },
  }
  const rejected = openException(opened, erasedAt)
  const exception = resolvedIfRepeated(rejected, await findLastExceptions(reference))
  await putException(exception)
  log.error('bank report rejected', {
    kind,
    reference,
    bank: bank.identifier,
    code: refusal.code,
    request_id: cause.requestId,
  })
}

/**
 * Stores the reply of a bank that a debit is completed, which has failed or is reversed: its money has moved,
 * and the bank may never report it. Or that it rejects a debit that was completed.
 */
export const recordRejectedOutcome = (
  debit: Debit,
  reply: BankOutcome,
  { status, ...rejection }: Pick<Rejection, 'refusal' | 'cause'> & { status: Debit['status'] },
): Promise<void> => {
  const kind = exceptionKind(status, reply.kind === 'completed' ? 'completed' : 'failed')
  const report = JSON.stringify(reportOf(reply))
  return recordRejection(debit, { kind, report, status, ...rejection })
}

/** Returns a reply as the bank would report it, so that its own report of the same is a repeat. */
const reportOf = (reply: BankOutcome) => {
  if (reply.kind !== 'completed') {
    const { kind: _, bankReference, message, code, ...others } = reply
    noneRemain(others)
    return { status: 'failed', bank_reference: bankReference, error_message: message, code }
  }
  const { kind, bankReference, fee, approvalMethod, ...others } = reply
  noneRemain(others)
  return {
    status: kind,
    bank_reference: bankReference,
    fee: fee === undefined ? undefined : formatAmount(fee),
    approval_method: approvalMethod,
  }
}
