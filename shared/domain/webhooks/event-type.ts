import type * as v from 'valibot'
import { debitEventTypes } from '../debits/lifecycle.ts'
import { oneOf } from '../text.ts'

/** The types of events (docs/api.md#event-types). */
export const eventTypes = {
  ...debitEventTypes,
  /** A settlement batch was paid. Only explicit subscribers receive it. */
  settled: { event: 'settlement.completed', priority: 'medium', retries: 5, isOptional: true },
} as const

export type EventName = keyof typeof eventTypes

const published = Object.values(eventTypes).map(({ event }) => event)

/** The published type, for subscriptions. */
export const EventType = oneOf(published)
export type EventType = v.InferOutput<typeof EventType>

/** Returns the type in the payload, in the provider's choice of names (docs/api.md#variants). */
export const sentType = (
  name: EventName,
  { eventNames }: { eventNames?: 'debit_request' | undefined },
): string =>
  eventNames && Object.hasOwn(debitEventTypes, name)
    ? `${eventNames}.${name}`
    : eventTypes[name].event
