import { bankEndpoint } from '../../shared/api/bank-endpoint.ts'
import { applyReport, namedDebit, recordRejectedBody } from '../../shared/api/bank-report.ts'
import { notFound } from '../../shared/api/operations.ts'
import { applyBankCallback } from '../../shared/domain/debits/bank-update.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { callbackView } from '../../shared/views/bank-debit.ts'

/** A bank's callback: what its update says, or that the customer approved. */
export const debitCallback = (runtime: Runtime) =>
  bankEndpoint(
    'debit-callback',
    runtime,
    async ({ caller, input, body, at, requestId }, { debit, generation }) => {
      if (!debit) return notFound('debit-callback')
      const cause = { at, by: `bank:${caller.bank}`, requestId, generation }
      const taken = await applyReport(
        debit,
        { report: input, body, cause, apply: applyBankCallback },
        runtime,
      )
      return taken instanceof Refusal ? taken : { data: callbackView(taken) }
    },
    { prefetch: namedDebit, onRejectedBody: recordRejectedBody },
  )

export const handler = debitCallback(real)
