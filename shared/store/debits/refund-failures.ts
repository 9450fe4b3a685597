import { openException } from '../../domain/debits/exception.ts'
import { failRefund, type Refund } from '../../domain/debits/refund.ts'
import { laterOf } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import type { Write } from '../table.ts'
import { findDebit } from './debits.ts'
import { exceptionWrite } from './exceptions.ts'
import { replaceRefund } from './refunds.ts'

/**
 * Fails a refund and opens its exception for operators in one transaction.
 * @returns undefined when another worker was first
 */
export const recordRefundFailure = async (
  refund: Refund,
  { failure, by }: { failure: string; by: string },
  alongside: readonly Write[],
  runtime: Runtime,
): Promise<Refund | undefined> => {
  const { reference, provider, bank, amount, uuid, createdAt } = refund
  const at = laterOf(createdAt, runtime.now())
  const debit = await findDebit(reference)
  const opened = {
    kind: 'refund' as const,
    ...{ reference, at, provider, bank, amount, by, requestId: uuid },
    ...{ status: debit?.status, code: undefined, details: undefined, request: undefined },
  }
  const exception = openException({ ...opened, report: failure }, debit?.erasedAt)
  const failed = failRefund(refund, { failure: exception.report ?? '', at })
  return replaceRefund(refund, failed, [exceptionWrite(exception), ...alongside], runtime)
}
