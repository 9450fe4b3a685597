import { recordRejection } from '../banks/rejected-report.ts'
import type { Cause, Debit } from '../domain/debits/debit.ts'
import { exceptionKind } from '../domain/debits/exception.ts'
import { Refusal } from '../domain/refusal.ts'
import { findBankDebit } from '../store/debits/debits.ts'
import { transition } from '../store/debits/transitions.ts'
import { currentGeneration } from '../store/operator/restores.ts'
import { type Call, endpoint, type RejectedCall } from './endpoint.ts'
import { notFound } from './operations.ts'

type ReportOperation = 'update-debit-transaction' | 'debit-callback'

/**
 * Returns the endpoint of a bank's report (docs/api.md#bank-reports). A rejected report becomes an
 * exception before the bank gets its reply, because the bank may have moved a customer's money.
 */
export const bankReportEndpoint = <N extends ReportOperation>(
  name: N,
  apply: (debit: Debit, report: Call<N>['input'], cause: Cause) => Debit | Refusal,
  view: (debit: Debit) => object,
) =>
  endpoint(
    name as ReportOperation,
    async ({ caller, input, body, at, requestId, prefetched }, runtime) => {
      const { debit, generation } = prefetched
      if (!debit) return notFound(name)
      const cause = { at, by: `bank:${caller.bank}`, requestId, generation }
      let current = debit
      const decide = (stored: Debit) => {
        current = stored
        return apply(stored, input as Call<N>['input'], cause)
      }
      const result = await transition(debit, decide, runtime)
      if (result instanceof Refusal) {
        const { status } = current
        const kind = exceptionKind(status, input.status)
        await recordRejection(current, { kind, refusal: result, report: body(), cause, status })
        return result
      }
      return { data: view(result) }
    },
    { prefetch: findReportedDebit, onRejectedBody: recordRejectedBody },
  )

type ReportedDebit = {
  /** Undefined if it does not exist or belongs to another bank. */
  debit: Debit | undefined
  generation: number | undefined
}

/** Reads the debit that the path names, and the current generation. */
const findReportedDebit = async ({
  caller,
  path,
  at,
}: Pick<Call<ReportOperation>, 'caller' | 'path' | 'at'>): Promise<ReportedDebit> => {
  const [debit, generation] = await Promise.all([
    findBankDebit(caller.bank, path.uuid),
    currentGeneration(at),
  ])
  return { debit, generation }
}

const recordRejectedBody = async ({
  caller,
  at,
  requestId,
  refusal,
  body,
  prefetched: { debit },
}: RejectedCall<ReportOperation, ReportedDebit>): Promise<void> => {
  if (!debit) return
  const cause = { at, by: `bank:${caller.bank}`, requestId }
  await recordRejection(debit, { kind: 'refused_report', refusal, report: body(), cause })
}
