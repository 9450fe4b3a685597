import { bankView } from './bank.ts'
import { type Debit, type State, stateAt } from './debit.ts'
import { eventTypes } from './event-type.ts'
import { amountNumber, CURRENCY } from './money.ts'
import { debitId, integerId, type Reference, referenceOf } from './reference.ts'

// Two digits for the number of an event within its debit; no path through the lifecycle has ten.
const EVENTS_PER_DEBIT = 100

/** The integer id of the record that owes event `n` of a debit to its partner. */
export const deliveryId = (reference: Reference, n: number): number =>
  integerId(reference) * EVENTS_PER_DEBIT + n

/** The inverse of {@link deliveryId}. */
export const deliveryOf = (prefix: string, id: number): { reference: Reference; n: number } => ({
  reference: referenceOf(prefix, Math.floor(id / EVENTS_PER_DEBIT)),
  n: id % EVENTS_PER_DEBIT,
})

/** A function of the debit and the number of the event, so every attempt carries the same. */
export const eventId = (reference: Reference, n: number): string =>
  `evt_${deliveryId(reference, n)}`

const iso = (at: Date | null): string | null => at?.toISOString() ?? null

/** Provider-side spelling of how the customer approved (specification, Enumerations). */
export const approvalMethodView = (method: State['approvalMethod']): string | null =>
  method === 'mobile_api' ? 'mobile_app' : method

const transactionView = (state: State) => ({
  id: debitId(state.reference),
  uuid: state.uuid,
  reference: state.reference,
  partner_reference: state.partnerReference,
  status: state.status,
  amount: amountNumber(state.amount),
  currency: CURRENCY,
  fee: state.fee === null ? null : amountNumber(state.fee),
  narration: state.narration,
  approval_method: approvalMethodView(state.approvalMethod),
  bank_reference: state.bankReference,
  error_message: state.errorMessage,
  created_at: iso(state.createdAt),
  processed_at: iso(state.processedAt),
  completed_at: iso(state.completedAt),
  bank: bankView(state.bank),
  customer: {
    name: state.customerName,
    phone_number: state.phone,
    account_number: state.accountNumber,
  },
})

/**
 * The body of the webhook for event `n` of a debit, minified (specification, Payload). It shows
 * the debit as it stood at the event, whatever happened since. `sequence` is the number of the
 * event within its debit, from 0, so a receiver can put them in order.
 */
export const webhookBody = (debit: Debit, n: number): string => {
  const state = stateAt(debit, n)
  return JSON.stringify({
    event: eventTypes[state.status].event,
    event_id: eventId(state.reference, n),
    timestamp: iso(state.updatedAt),
    api_version: 'v1',
    sequence: n,
    data: {
      transaction: transactionView(state),
      previous_status: state.previousStatus,
      metadata: state.metadata,
      ...(state.status === 'failed'
        ? { error_details: { message: state.errorMessage, code: state.errorCode } }
        : {}),
    },
  })
}
