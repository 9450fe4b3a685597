import { bankReportEndpoint } from '../../shared/api/bank-report.ts'
import { applyBankUpdate } from '../../shared/domain/debits/bank-update.ts'
import { real } from '../../shared/runtime.ts'
import { bankUpdateView } from '../../shared/views/bank-debit.ts'

/** Accepts the outcome of a debit (docs/api.md#bank-reports). */
export const updateDebitTransaction = bankReportEndpoint(
  'update-debit-transaction',
  applyBankUpdate,
  bankUpdateView,
)

export const handler = updateDebitTransaction(real)
