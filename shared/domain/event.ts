import { type Debit, type State, stateAt } from './debit.ts'
import { sentType } from './event-type.ts'
import { amountNumber, CURRENCY } from './money.ts'
import type { Webhook } from './partner.ts'
import { integerId, type Reference, referenceOf } from './reference.ts'
import { transactionView } from './transaction.ts'

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

const DELIVERY_ID = /^[1-9][0-9]{0,15}$/

/** What a caller's text names as the id of a delivery; undefined: it can be none. */
export const readDeliveryId = (
  prefix: string,
  text: string | undefined,
): { reference: Reference; n: number } | undefined =>
  text !== undefined && DELIVERY_ID.test(text) ? deliveryOf(prefix, Number(text)) : undefined

/** A function of the debit and the number of the event, so every attempt carries the same. */
export const eventId = (reference: Reference, n: number): string =>
  `evt_${deliveryId(reference, n)}`

/** How a partner wants its events written. */
export type Variant = Pick<Webhook, 'payload' | 'eventNames'>

const API_VERSION = 'v1'

/**
 * The body of the webhook for event `n` of a debit, minified (specification, Payload). It shows
 * the debit as it stood at the event, whatever happened since. `sequence` is the number of the
 * event within its debit, from 0, so a receiver can put them in order.
 */
export const webhookBody = (debit: Debit, n: number, variant: Variant = {}): string =>
  JSON.stringify(webhookPayload(debit, n, variant))

/** The same before it is spelled out, as a member of something larger. */
export const webhookPayload = (debit: Debit, n: number, variant: Variant = {}) => {
  const state = stateAt(debit, n)
  return {
    event: sentType(state.status, variant),
    event_id: eventId(state.reference, n),
    timestamp: state.updatedAt.toISOString(),
    api_version: API_VERSION,
    sequence: n,
    data: variant.payload === 'reduced' ? reduced(state) : full(state),
  }
}

const full = (state: State) => ({
  transaction: transactionView(state, amountNumber),
  previous_status: state.previousStatus,
  metadata: state.metadata,
  ...(state.status === 'failed'
    ? { error_details: { message: state.errorMessage, code: state.errorCode } }
    : {}),
})

const reduced = (state: State) => ({
  reference: state.reference,
  status: state.status,
  amount: amountNumber(state.amount),
  currency: CURRENCY,
  partner_reference: state.partnerReference,
  timestamp: state.updatedAt.toISOString(),
})

/** The type of what tries a webhook out. */
export const PING = 'ping'

/** The body that tries a webhook out: it is about no debit, so it has no place in a sequence. */
export const pingBody = ({ eventId, at }: { eventId: string; at: Date }): string =>
  JSON.stringify({
    event: PING,
    event_id: eventId,
    timestamp: at.toISOString(),
    api_version: API_VERSION,
    data: {},
  })
