import type * as v from 'valibot'
import { oneOf } from '../text.ts'

/**
 * The events of a debit and how hard each is tried (specification, Event types and
 * Subscriptions). `retries` are attempts after the first.
 */
export const eventTypes = {
  created: { event: 'transaction.created', priority: 'low', retries: 2 },
  pending: { event: 'transaction.pending', priority: 'low', retries: 2 },
  processing: { event: 'transaction.processing', priority: 'medium', retries: 5 },
  completed: { event: 'transaction.completed', priority: 'high', retries: 10 },
  failed: { event: 'transaction.failed', priority: 'high', retries: 10 },
  reversed: { event: 'transaction.reversed', priority: 'medium', retries: 5 },
  /** A settlement batch was paid. Only for who subscribes to it. */
  settled: { event: 'settlement.completed', priority: 'medium', retries: 5, asked: true },
} as const

export type EventName = keyof typeof eventTypes

/** Those of a debit; its status is named alike. */
export type DebitEventName = Exclude<EventName, 'settled'>

export const debitEventNames = Object.keys(eventTypes).filter(
  (name): name is DebitEventName => name !== 'settled',
)

const published = Object.values(eventTypes).map(({ event }) => event)

/** The type as providers see and subscribe to it. */
export const EventType = oneOf(published)
export type EventType = v.InferOutput<typeof EventType>

/**
 * The type as a provider is sent it. Another reference of the specification calls the same events
 * `debit_request.*`; a provider may ask for those names, and subscribes by the others all the same.
 */
export const sentType = (
  name: EventName,
  { eventNames }: { eventNames?: 'debit_request' | undefined },
): string => (eventNames && name !== 'settled' ? `${eventNames}.${name}` : eventTypes[name].event)
