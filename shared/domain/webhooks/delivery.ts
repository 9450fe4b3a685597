import { type Complete, defined } from '../complete.ts'
import type { ProviderId } from '../providers/provider.ts'
import { secondsAfter } from '../time.ts'
import {
  type Attempt,
  type AttemptTiming,
  attemptOf,
  delaySeconds,
  type FailureReason,
  type Outcome,
  reasonOf,
  retriable,
  succeeded,
} from './attempt.ts'
import type { EventKey, ProviderEvent } from './event.ts'
import { type EventName, type EventType, eventTypes } from './event-type.ts'
import type { Webhook } from './webhook.ts'

/** The delivery of one event to its provider (docs/api.md#delivery-records). */
export type Delivery = EventKey & {
  provider: ProviderId
  event: EventName
  occurredAt: Date
  status: DeliveryStatus
  attemptCount: number
  attemptsMax: number
  /** The last attempt. Earlier ones are separate items. */
  last: Attempt | null
  nextAttemptAt: Date | null
  /** The first success; a failed redelivery does not change it. */
  deliveredAt: Date | null
  failedAt: Date | null
  /** The published code of the last attempt's failure, or of its omission; null: neither. */
  reason: FailureReason | null
  /** Automatic retries after it was abandoned. */
  autoRetries: number
}

type DeliveryStatusRow = {
  /** Whether no automatic attempt follows. */
  isSettled: boolean
  /** The recovery that retries it: `requested` by an operator, `automatic` or requested, or `none`. */
  recovery: 'none' | 'requested' | 'automatic'
}

export const deliveryStatuses = {
  pending: { isSettled: false, recovery: 'none' },
  delivered: { isSettled: true, recovery: 'none' },
  failed: { isSettled: false, recovery: 'requested' },
  abandoned: { isSettled: true, recovery: 'automatic' },
} as const satisfies Record<string, DeliveryStatusRow>

export type DeliveryStatus = keyof typeof deliveryStatuses

/** Returns the total attempts: the provider's setting, or the first one and the retries of the event. */
export const attemptsMax = (event: EventName, webhook: Pick<Webhook, 'attemptsMax'>): number =>
  webhook.attemptsMax ?? 1 + eventTypes[event].retries

type DeliverableEvent = Pick<ProviderEvent, keyof EventKey | 'provider' | 'type' | 'at'>

export const newDelivery = (
  { reference, n, generation, provider, type, at }: DeliverableEvent,
  webhook: Pick<Webhook, 'attemptsMax'>,
): Delivery =>
  defined<Complete<Delivery>>({
    reference,
    n,
    generation,
    provider,
    event: type,
    occurredAt: at,
    status: 'pending',
    attemptCount: 0,
    attemptsMax: attemptsMax(type, webhook),
    last: null,
    nextAttemptAt: null,
    deliveredAt: null,
    failedAt: null,
    reason: null,
    autoRetries: 0,
  })

/** A delivery that ended with its first attempt. */
export type FirstSuccess = Pick<
  Delivery,
  keyof EventKey | 'provider' | 'event' | 'occurredAt' | 'attemptsMax'
> & { last: Attempt }

export const firstSuccess = ({ last, ...event }: FirstSuccess): Delivery => ({
  ...event,
  status: 'delivered',
  attemptCount: 1,
  last,
  nextAttemptAt: null,
  deliveredAt: endOf(last),
  failedAt: null,
  reason: null,
  autoRetries: 0,
})

const endOf = ({ at, milliseconds }: Pick<Attempt, 'at' | 'milliseconds'>): Date =>
  new Date(at.getTime() + milliseconds)

/** Reports whether no automatic attempt follows. */
export const isSettled = ({ status }: Pick<Delivery, 'status'>): boolean =>
  deliveryStatuses[status].isSettled

/** Records one more attempt (docs/api.md#retries). */
export const recordAttempt = (
  delivery: Delivery,
  outcome: Outcome,
  timing: AttemptTiming,
  random: number,
): Delivery => {
  const number = delivery.attemptCount + 1
  const endedAt = endOf(timing)
  const last = attemptOf(number, outcome, timing)
  const attempted: Delivery = {
    ...delivery,
    attemptCount: number,
    last,
    nextAttemptAt: null,
    failedAt: null,
    reason: reasonOf(last.cause),
  }
  if (last.cause === null) {
    return { ...attempted, status: 'delivered', deliveredAt: delivery.deliveredAt ?? endedAt }
  }
  if (!retriable(outcome) || number >= delivery.attemptsMax) return exhausted(attempted, endedAt)
  const retryAfter = outcome.kind === 'answered' ? outcome.retryAfterSeconds : undefined
  const seconds = delaySeconds(number, random, retryAfter)
  return { ...attempted, status: 'failed', nextAttemptAt: secondsAfter(endedAt, seconds) }
}

type LateAttempt = {
  outcome: Outcome
  timing: AttemptTiming
  random: number
  /** Whether a redelivery was requested after the attempt read the record. */
  isRequested: boolean
}

/**
 * Records an attempt after another worker has changed the record. The attempt gets the next number. A
 * success wins; a failure changes neither a settled delivery nor a requested redelivery.
 */
export const appendAttempt = (
  delivery: Delivery,
  { outcome, timing, random, isRequested }: LateAttempt,
): Delivery => {
  const number = delivery.attemptCount + 1
  const attemptsMax = Math.max(delivery.attemptsMax, isRequested ? number + 1 : number)
  const next = recordAttempt({ ...delivery, attemptsMax }, outcome, timing, random)
  if (succeeded(outcome)) return next
  const { status, failedAt, nextAttemptAt } = delivery
  if (isSettled(delivery) || isRequested) return { ...next, status, failedAt, nextAttemptAt }
  // Each response may have a Retry-After: the later time applies.
  const isLater = nextAttemptAt && next.nextAttemptAt && nextAttemptAt > next.nextAttemptAt
  return isLater ? { ...next, nextAttemptAt } : next
}

// An event that was received once stays delivered.
const exhausted = (delivery: Delivery, at: Date): Delivery =>
  delivery.deliveredAt
    ? { ...delivery, status: 'delivered' }
    : { ...delivery, status: 'abandoned', failedAt: at }

export const abandon = (delivery: Delivery, reason: FailureReason, at: Date): Delivery =>
  exhausted({ ...delivery, nextAttemptAt: null, reason }, at)

/** Requests one more attempt, which replaces a due one (docs/api.md#redelivery). */
export const redeliver = (delivery: Delivery, at: Date): Delivery => ({
  ...delivery,
  status: 'pending',
  attemptsMax: Math.max(delivery.attemptsMax, delivery.attemptCount + 1),
  nextAttemptAt: at,
  failedAt: null,
})

const COALESCED_SECONDS = 60

/** Reports whether a redelivery was requested so recently that another request has no effect. */
export const isRedelivering = (
  { status, nextAttemptAt }: Pick<Delivery, 'status' | 'nextAttemptAt'>,
  at: Date,
): boolean =>
  status === 'pending' &&
  nextAttemptAt !== null &&
  at.getTime() - nextAttemptAt.getTime() < COALESCED_SECONDS * 1000

/** The number of automatic retries, so that an event that no receiver accepts ends. */
const AUTO_RETRIES_MAX = 3

/** Retries a delivery because its webhook has recovered; undefined: no retry (docs/api.md#recovery). */
export const autoRetry = (delivery: Delivery, at: Date): Delivery | undefined =>
  deliveryStatuses[delivery.status].recovery === 'automatic' &&
  delivery.autoRetries < AUTO_RETRIES_MAX
    ? { ...redeliver(delivery, at), autoRetries: delivery.autoRetries + 1 }
    : undefined

type Subscriptions = Pick<Webhook, 'events' | 'since' | 'subscribedAt'>

export const isSubscribed = (webhook: Pick<Webhook, 'events'>, event: EventName): boolean =>
  webhook.events
    ? webhook.events.includes(eventTypes[event].event)
    : !('isOptional' in eventTypes[event])

/** Reports whether a webhook must receive an event: it was subscribed to its type at that time. */
export const isOwed = (
  webhook: Subscriptions,
  { type, at }: Pick<ProviderEvent, 'type' | 'at'>,
): boolean => {
  const added = webhook.subscribedAt?.[eventTypes[type].event]
  const since = added ? new Date(added) : webhook.since
  return isSubscribed(webhook, type) && (since === undefined || at >= since)
}

/** Returns the times of later subscriptions after a change of the subscribed events. */
export const subscribedAfter = (
  previous: Subscriptions,
  events: Webhook['events'],
  now: Date,
): Webhook['subscribedAt'] => {
  const times: [EventType, string][] = []
  for (const name of Object.keys(eventTypes) as EventName[]) {
    const { event } = eventTypes[name]
    const kept = isSubscribed(previous, name)
    const at = kept ? previous.subscribedAt?.[event] : now.toISOString()
    if (at && isSubscribed({ events }, name)) times.push([event, at])
  }
  return times.length > 0 ? Object.fromEntries(times) : undefined
}
