import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { ReportException } from '../../domain/debits/exception.ts'
import { maskPhone } from '../../domain/phone.ts'
import { eventTypes } from '../../domain/webhooks/event-type.ts'
import { type Attached, statusView } from '../debit.ts'

export type DebitResult = ReturnType<typeof operatorDebitView>
export type HistoryEntry = DebitResult['history'][number]

/** Shows a debit without the customer's name and full phone number, which operators do not see. */
export const operatorDebitView = (
  debit: Debit,
  { exceptions, ...attached }: Attached & { exceptions: readonly ReportException[] },
) => {
  const state = stateAt(debit)
  const { response, customer, ...summary } = statusView(debit, attached)
  return {
    ...summary,
    status: debit.status,
    provider: state.provider,
    bank: state.bank.identifier,
    phone_number: state.phone && maskPhone(state.phone),
    error_code: state.errorCode,
    updated_at: state.updatedAt.toISOString(),
    open_exceptions: [
      ...new Set(exceptions.flatMap(({ kind, resolvedAt }) => (resolvedAt ? [] : [kind]))),
    ],
    history: debit.history.map((entry, index) => ({
      n: index,
      event: eventTypes[entry.type].event,
      at: entry.at.toISOString(),
      by: entry.by,
      request_id: entry.requestId,
    })),
  }
}

export type DebitSummary = ReturnType<typeof debitSummaryView>

export const debitSummaryView = (debit: Debit) => {
  const attached = { refund: null, request: null, exceptions: [] }
  const { history, metadata, refund, reversal_request, open_exceptions, ...summary } =
    operatorDebitView(debit, attached)
  return summary
}
