import { statusView } from '../../shared/api/debit-view.ts'
import { advance, type Debit, stateAt } from '../../shared/domain/debit.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { PartnerId } from '../../shared/domain/partner.ts'
import { maskPhone } from '../../shared/domain/phone.ts'
import { Reference } from '../../shared/domain/reference.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { Day } from '../../shared/domain/settlement.ts'
import { text } from '../../shared/domain/text.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits.ts'
import { moveDebit } from '../../shared/store/moves.ts'
import { findPartner } from '../../shared/store/partners.ts'
import { repairDay } from '../../shared/sweep/day.ts'

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

/** Of the function's fifteen minutes, what a repair may use. */
const REPAIR_MS = 780_000

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
  /** Has all done that should have followed from the debits of a day, and did not. */
  repair: verb(options({ provider: PartnerId, date: Day }), async ({ provider, date }) => {
    if (!(await findPartner(provider))) return new Refusal(1404, { details: 'no such provider' })
    const end = real.now().getTime() + REPAIR_MS
    const isOver = () => real.now().getTime() >= end
    const { lookedAt, repaired, isDone } = await repairDay(provider, date, real, isOver)
    return { provider, date, looked_at: lookedAt, repaired, is_done: isDone }
  }),
})
