import { statusView } from '../../shared/api/debit-view.ts'
import { advance, type Debit, stateAt } from '../../shared/domain/debit.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { maskPhone } from '../../shared/domain/phone.ts'
import { Reference } from '../../shared/domain/reference.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { text } from '../../shared/domain/text.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits.ts'
import { moveDebit } from '../../shared/store/moves.ts'

const view = (debit: Debit) => {
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
}

const notReversible = ({ status }: Debit) =>
  new Refusal(3001, { details: `cannot transition from ${status} to reversed` })

const unknown = () => new Refusal(3404, { details: 'no such debit' })

export const handler = operatorHandler({
  show: verb(options({ reference: Reference }), async ({ reference }) => {
    const debit = await findDebit(reference)
    return debit ? view(debit) : unknown()
  }),
  /** A completed debit is given back; asked for again, it is left as it is. */
  reverse: verb(
    options({ reference: Reference, reason: text({ max: 200 }) }),
    async ({ reference, reason }) => {
      const debit = await findDebit(reference)
      if (!debit) return unknown()
      const cause = { at: real.now(), by: 'operator', requestId: real.newId() }
      const reversed = await moveDebit(
        debit,
        (now) => {
          const changes = { metadata: { reversal_reason: reason } }
          const after = advance(now, { ...cause, to: 'reversed', changes })
          return after instanceof Refusal ? notReversible(now) : after
        },
        real,
      )
      return reversed instanceof Refusal ? reversed : view(reversed)
    },
  ),
})
