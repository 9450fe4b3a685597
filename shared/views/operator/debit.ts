import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { ShownRefund } from '../../domain/debits/refund.ts'
import { maskPhone } from '../../domain/phone.ts'
import { eventTypes } from '../../domain/webhooks/event-type.ts'
import { statusView } from '../debit.ts'

export type DebitResult = ReturnType<typeof operatorDebitView>
export type HistoryEntry = DebitResult['history'][number]

/** Shows a debit without the customer's name and full phone number, which operators do not see. */
export const operatorDebitView = (debit: Debit, refund: ShownRefund | null) => {
  const state = stateAt(debit)
  const { response, customer, ...summary } = statusView(debit, refund)
  return {
    ...summary,
    status: debit.status,
    provider: state.provider,
    bank: state.bank.identifier,
    phone_number: maskPhone(state.phone),
    error_code: state.errorCode,
    updated_at: state.updatedAt.toISOString(),
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
  const { history, metadata, refund, ...summary } = operatorDebitView(debit, null)
  return summary
}
