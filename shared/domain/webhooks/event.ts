import { batchView } from '../../views/batch.ts'
import { errorDetails, transactionView } from '../../views/transaction.ts'
import { type Debit, type State, stateAt } from '../debits/debit.ts'
import { refundView, reversalRefund } from '../debits/refund.ts'
import { integerId, type Reference, referenceOf } from '../ids.ts'
import { amountNumber, CURRENCY } from '../money.ts'
import { GENERATION_MAX } from '../operator/restore.ts'
import type { ProviderId } from '../providers/provider.ts'
import { BATCH_PREFIX, type Batch } from '../settlement/batch.ts'
import { type EventName, eventTypes, sentType } from './event-type.ts'
import type { Webhook } from './webhook.ts'

// Two digits identify an event within its debit: the generation less one (0 to 8), and the number, which
// stays below ten in every lifecycle.
const EVENTS_PER_DEBIT = 100
const EVENTS_PER_GENERATION = 10

/** The number of the only event of a batch. Its digits are 99 in generation 1, 98 in 2, to 91. */
const SETTLED = 99

/** An event: its debit or batch, its number there, and the generation of its write. */
export type EventKey = { reference: Reference; n: number; generation?: number | undefined }

/** Returns the integer id of an event's delivery record. Ids of different generations differ. */
export const deliveryId = ({ reference, n, generation = 1 }: EventKey): number =>
  integerId(reference) * EVENTS_PER_DEBIT +
  (n === SETTLED ? n - (generation - 1) : n + (generation - 1) * EVENTS_PER_GENERATION)

/** The inverse of {@link deliveryId}. */
export const deliveryOf = (prefix: string, id: number): Required<EventKey> => {
  const digits = id % EVENTS_PER_DEBIT
  const number = Math.floor(id / EVENTS_PER_DEBIT)
  if (digits > SETTLED - GENERATION_MAX) {
    const generation = SETTLED - digits + 1
    return { reference: referenceOf(BATCH_PREFIX, number), n: SETTLED, generation }
  }
  return {
    reference: referenceOf(prefix, number),
    n: digits % EVENTS_PER_GENERATION,
    generation: Math.floor(digits / EVENTS_PER_GENERATION) + 1,
  }
}

const DELIVERY_ID = /^[1-9][0-9]{0,15}$/

/** Parses the id of a delivery from a caller's text. */
export const readDeliveryId = (
  prefix: string,
  text: string | undefined,
): Required<EventKey> | undefined =>
  text !== undefined && DELIVERY_ID.test(text) ? deliveryOf(prefix, Number(text)) : undefined

/** Returns the id of an event, the same in every attempt. */
export const eventId = (event: EventKey): string => `evt_${deliveryId(event)}`

/** The published variants of payloads (docs/api.md#variants). */
export type Variant = Pick<Webhook, 'payload' | 'eventNames'>

const API_VERSION = 'v1'

/** An event of a debit or a settlement batch, for its provider. */
export type ProviderEvent = EventKey & {
  provider: ProviderId
  type: EventName
  at: Date
  /** Returns the body before serialization. */
  payload: (variant: Variant) => object
}

/** Returns event `n` of a debit. */
export const debitEvent = (debit: Debit, n: number): ProviderEvent => {
  const { reference, provider } = debit.facts
  const entry = debit.history[n]
  if (!entry) throw new Error(`Debit ${reference} has no event ${n}`)
  const payload = (variant: Variant) => webhookPayload(debit, n, variant)
  const { type, at, generation } = entry
  return { provider, reference, n, generation, type, at, payload }
}

export const debitEvents = (debit: Debit): ProviderEvent[] =>
  debit.history.map((_, n) => debitEvent(debit, n))

/** Returns the event of a paid batch. */
export const settlementEvent = (batch: Batch): ProviderEvent | undefined => {
  const { id, provider, completedAt: at, completedGeneration: generation } = batch
  if (batch.status !== 'completed' || !at) return undefined
  const reference = id as string as Reference
  const payload = () => ({
    event: eventTypes.settled.event,
    event_id: eventId({ reference, n: SETTLED, generation }),
    timestamp: at.toISOString(),
    api_version: API_VERSION,
    sequence: 0,
    data: { settlement: batchView(batch, amountNumber) },
  })
  return { provider, reference, n: SETTLED, generation, type: 'settled', at, payload }
}

/**
 * Returns the webhook body for event `n` of a debit, minified (docs/api.md#payload). It shows the debit
 * at the event. `sequence` is `n`, which orders the events of a debit.
 */
export const webhookBody = (debit: Debit, n: number, variant: Variant = {}): string =>
  JSON.stringify(webhookPayload(debit, n, variant))

/** Returns the body before serialization. */
export const webhookPayload = (debit: Debit, n: number, variant: Variant = {}) => {
  const state = stateAt(debit, n)
  return {
    event: sentType(state.status, variant),
    event_id: eventId({ reference: state.reference, n, generation: debit.history[n]?.generation }),
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

export const PING = 'ping'

/** Returns the body of a test event, which has no debit and no sequence. */
export const pingBody = ({ eventId, at }: { eventId: string; at: Date }): string =>
  JSON.stringify({
    event: PING,
    event_id: eventId,
    timestamp: at.toISOString(),
    api_version: API_VERSION,
    data: {},
  })
