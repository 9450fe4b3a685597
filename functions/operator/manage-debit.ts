import { statusView } from '../../shared/api/debit-view.ts'
import { stateAt } from '../../shared/domain/debit.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { maskPhone } from '../../shared/domain/phone.ts'
import { Reference } from '../../shared/domain/reference.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { findDebit } from '../../shared/store/debits.ts'

export const handler = operatorHandler({
  show: verb(options({ reference: Reference }), async ({ reference }) => {
    const debit = await findDebit(reference)
    if (!debit) return new Refusal(3404, { details: 'no such debit' })
    const state = stateAt(debit)
    const { response: _response, ...summary } = statusView(debit)
    return {
      ...summary,
      provider: state.partner,
      partner_reference: state.partnerReference,
      bank: state.bank.identifier,
      phone_number: maskPhone(state.phone),
      bank_reference: state.bankReference,
      error_message: state.errorMessage,
      error_code: state.errorCode,
      metadata: state.metadata,
      history: debit.history.map((entry, n) => ({
        n,
        event: eventTypes[entry.type].event,
        at: entry.at.toISOString(),
        by: entry.by,
        request_id: entry.requestId,
      })),
    }
  }),
})
