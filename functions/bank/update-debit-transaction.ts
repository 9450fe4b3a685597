import { bankEndpoint } from '../../shared/api/bank-endpoint.ts'
import { applyReport, namedDebit, recordRejectedBody } from '../../shared/api/bank-report.ts'
import { notFound } from '../../shared/api/operations.ts'
import { applyBankUpdate } from '../../shared/domain/debits/bank-update.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { bankUpdateView } from '../../shared/views/bank-debit.ts'

export const updateDebitTransaction = (runtime: Runtime) =>
  bankEndpoint(
    'update-debit-transaction',
    runtime,
    async ({ caller, input, body, at, requestId }, { debit, generation }) => {
      if (!debit) return notFound('update-debit-transaction')
      const cause = { at, by: `bank:${caller.bank}`, requestId, generation }
      const taken = await applyReport(
        debit,
        { report: input, body, cause, apply: applyBankUpdate },
        runtime,
      )
      return taken instanceof Refusal ? taken : { data: bankUpdateView(taken) }
    },
    { prefetch: namedDebit, onRejectedBody: recordRejectedBody },
  )

export const handler = updateDebitTransaction(real)
