import { BATCH_PREFIX, integerId, type Reference, referenceOf } from '../ids.ts'
import { GENERATION_MAX } from '../operator/restore.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { EventName } from './event-type.ts'
import type { Webhook } from './webhook.ts'

// The second digit is the number of the event in its debit: no path through the lifecycle has ten.
// The first digit is the generation minus one: 0 to 8.
const EVENTS_PER_DEBIT = 100
const EVENTS_PER_GENERATION = 10

/** The number of the event of a batch. Its digits are 99 in generation 1, 98 in 2, down to 91. */
export const SETTLED = 99

/** Reports whether a number is that of `created` or `pending`, which every charge writes together. */
export const isChargeEvent = (n: number): boolean => n < 2

/** Identifies an event: its debit or batch, its number there, and the generation of its write. */
export type EventKey = { reference: Reference; n: number; generation?: number | undefined }

/** Returns the integer id of an event's delivery record. Ids of different generations differ. */
export const deliveryId = ({ reference, n, generation = 1 }: EventKey): number =>
  integerId(reference) * EVENTS_PER_DEBIT +
  (n === SETTLED ? n - (generation - 1) : n + (generation - 1) * EVENTS_PER_GENERATION)

/**
 * Orders the events of a debit. A restore loses later events and their numbers, so those written after it
 * continue ten higher: a receiver that compares only `sequence` applies them.
 */
export const eventSequence = (n: number, generation = 1, createdGeneration = 1): number =>
  n + (generation - createdGeneration) * EVENTS_PER_GENERATION

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

export const DELIVERY_ID = /^[1-9][0-9]{0,15}$/

export const parseDeliveryId = (prefix: string, text: string | undefined) =>
  text !== undefined && DELIVERY_ID.test(text) ? deliveryOf(prefix, Number(text)) : undefined

/** Returns the id of an event, the same in every attempt. */
export const eventId = (event: EventKey): string => `evt_${deliveryId(event)}`

/** The settings of a provider that change the body of its events (docs/api.md#variants). */
export type PayloadVariant = Pick<Webhook, 'payload' | 'eventNames'>

/** An event of a debit or a settlement batch, with the body for its provider. */
export type ProviderEvent = EventKey & {
  provider: ProviderId
  type: EventName
  at: Date
  /** The customer of its debit was erased. */
  isErased: boolean
  payload: (variant: PayloadVariant | undefined) => { event: string; event_id: string }
}

/** The type of the event that tests a webhook. */
export const PING = 'ping'
