import { bankReportEndpoint } from '../../shared/api/bank-report.ts'
import { applyBankCallback } from '../../shared/domain/debits/bank-update.ts'
import { real } from '../../shared/runtime.ts'
import { callbackView } from '../../shared/views/bank-debit.ts'

/** Accepts an approval by the customer, or the outcome of a debit (docs/api.md#callback). */
export const debitCallback = bankReportEndpoint('debit-callback', applyBankCallback, callbackView)

export const handler = debitCallback(real)
