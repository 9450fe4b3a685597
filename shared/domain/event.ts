import { type Debit, type State, stateAt } from './debit.ts'
import { type EventName, eventTypes, sentType } from './event-type.ts'
import { amountNumber, CURRENCY } from './money.ts'
import type { PartnerId, Webhook } from './partner.ts'
import { integerId, type Reference, referenceOf } from './reference.ts'
import { refundView, reversalRefund } from './refund.ts'
import { BATCH_PREFIX, type Batch } from './settlement.ts'
import { batchView } from './settlement-view.ts'
import { errorDetails, transactionView } from './transaction.ts'

// Two digits for the number of an event within its debit; no path through the lifecycle has ten.
const EVENTS_PER_DEBIT = 100

/** The number of the one event that a batch has; no debit has so many. */
const SETTLED = 99

/** The integer id of the record that owes event `n` of a debit to its partner. */
export const deliveryId = (reference: Reference, n: number): number =>
  integerId(reference) * EVENTS_PER_DEBIT + n

/** The inverse of {@link deliveryId}. */
export const deliveryOf = (prefix: string, id: number): { reference: Reference; n: number } => {
  const n = id % EVENTS_PER_DEBIT
  const owner = n === SETTLED ? BATCH_PREFIX : prefix
  return { reference: referenceOf(owner, Math.floor(id / EVENTS_PER_DEBIT)), n }
}

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

/** An event as its partner is told of it: of a debit, or of a settlement batch. */
export type PartnerEvent = {
  partner: PartnerId
  /** The debit, or the batch. */
  reference: Reference
  /** Its number among the events of that. */
  n: number
  type: EventName
  at: Date
  /** The body, before it is spelled out. */
  payload: (variant: Variant) => object
}

/** Event `n` of a debit. */
export const debitEvent = (debit: Debit, n: number): PartnerEvent => {
  const { reference, partner } = debit.facts
  const entry = debit.history[n]
  if (!entry) throw new Error(`Debit ${reference} has no event ${n}`)
  const payload = (variant: Variant) => webhookPayload(debit, n, variant)
  return { partner, reference, n, type: entry.type, at: entry.at, payload }
}

export const debitEvents = (debit: Debit): PartnerEvent[] =>
  debit.history.map((_, n) => debitEvent(debit, n))

/** What tells that a batch was paid. */
export const settlementEvent = (batch: Batch): PartnerEvent | undefined => {
  const { id, partner, completedAt: at } = batch
  if (batch.status !== 'completed' || !at) return undefined
  const reference = id as string as Reference
  const payload = () => ({
    event: eventTypes.settled.event,
    event_id: eventId(reference, SETTLED),
    timestamp: at.toISOString(),
    api_version: API_VERSION,
    sequence: 0,
    data: { settlement: batchView(batch, amountNumber) },
  })
  return { partner, reference, n: SETTLED, type: 'settled', at, payload }
}

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
    data: variant.payload === 'reduced' ? reduced(state) : full(debit, state),
  }
}

const full = (debit: Debit, state: State) => {
  const details = errorDetails(state)
  return {
    transaction: transactionView(state, amountNumber),
    previous_status: state.previousStatus,
    metadata: state.metadata,
    ...(details ? { error_details: details } : {}),
    ...(state.status === 'reversed'
      ? { refund: refundView(reversalRefund(debit), amountNumber) }
      : {}),
  }
}

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
