import type * as v from 'valibot'
import { oneOf } from '../text.ts'

/** The types of events (docs/api.md#event-types). `retries` are attempts after the first. */
export const eventTypes = {
  created: { event: 'transaction.created', priority: 'low', retries: 2 },
  pending: { event: 'transaction.pending', priority: 'low', retries: 2 },
  processing: { event: 'transaction.processing', priority: 'medium', retries: 5 },
  completed: { event: 'transaction.completed', priority: 'high', retries: 10 },
  failed: { event: 'transaction.failed', priority: 'high', retries: 10 },
  reversed: { event: 'transaction.reversed', priority: 'medium', retries: 5 },
  /** A settlement batch was paid. Only explicit subscribers receive it. */
  settled: { event: 'settlement.completed', priority: 'medium', retries: 5, isOptional: true },
} as const

export type EventName = keyof typeof eventTypes

/** The events of a debit, named after its statuses. */
export type DebitEventName = Exclude<EventName, 'settled'>

export const debitEventNames = Object.keys(eventTypes).filter(
  (name): name is DebitEventName => name !== 'settled',
)

const published = Object.values(eventTypes).map(({ event }) => event)

/** The published type, for subscriptions. */
export const EventType = oneOf(published)
export type EventType = v.InferOutput<typeof EventType>

/** Returns the type in the payload, in the provider's choice of names (docs/api.md#variants). */
export const sentType = (
  name: EventName,
  { eventNames }: { eventNames?: 'debit_request' | undefined },
): string => (eventNames && name !== 'settled' ? `${eventNames}.${name}` : eventTypes[name].event)
