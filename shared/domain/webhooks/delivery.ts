import type { ProviderId } from '../providers/provider.ts'
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
import { type EventName, eventTypes } from './event-type.ts'
import type { Webhook } from './webhook.ts'

/** One event owed to one provider (specification, Webhook delivery record). */
export type Delivery = EventKey & {
  provider: ProviderId
  event: EventName
  /** When the event happened. */
  occurredAt: Date
  status: DeliveryStatus
  attemptCount: number
  attemptsMax: number
  /** The last attempt; those before it are kept beside the record. */
  last: Attempt | null
  nextAttemptAt: Date | null
  /** When it was received first; a later redelivery that fails does not undo that. */
  deliveredAt: Date | null
  /** When it was abandoned. */
  failedAt: Date | null
  /** The published code of what went wrong last. */
  reason: FailureReason | null
  /** How often it was taken up again of its own accord after it had been abandoned. */
  autoRetries: number
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'abandoned'

/** Total attempts: the provider's own setting, else the first one and the retries of the class. */
export const attemptsMax = (event: EventName, webhook: Pick<Webhook, 'attemptsMax'>): number =>
  webhook.attemptsMax ?? 1 + eventTypes[event].retries

type DeliverableEvent = Pick<ProviderEvent, keyof EventKey | 'provider' | 'type' | 'at'>

/** The record before its first attempt. */
export const newDelivery = (
  { reference, n, generation, provider, type, at }: DeliverableEvent,
  webhook: Pick<Webhook, 'attemptsMax'>,
): Delivery => ({
  reference,
  n,
  ...(generation ? { generation } : {}),
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

/** Delivered or abandoned: nothing more is tried of its own accord. */
export const isSettled = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'delivered' || status === 'abandoned'

/** The record after one more attempt (specification, Webhook delivery states). */
export const recordAttempt = (
  delivery: Delivery,
  outcome: Outcome,
  made: AttemptTiming,
  draw: number,
): Delivery => {
  const number = delivery.attemptCount + 1
  const endedAt = new Date(made.at.getTime() + made.milliseconds)
  const last = attemptOf(number, outcome, made)
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
  const asked = outcome.kind === 'answered' ? outcome.retryAfterSeconds : undefined
  const seconds = delaySeconds(number, draw, asked)
  return {
    ...attempted,
    status: 'failed',
    nextAttemptAt: new Date(endedAt.getTime() + seconds * 1000),
  }
}

type LateAttempt = {
  outcome: Outcome
  made: AttemptTiming
  draw: number
  /** A redelivery was requested after the attempt had read the record. */
  isRequested: boolean
}

/**
 * The record after an attempt that ended when another worker had changed the record. The attempt
 * gets the next number. A success wins; a failure changes neither the end of a delivery nor a
 * redelivery that is due.
 */
export const appendAttempt = (
  delivery: Delivery,
  { outcome, made, draw, isRequested }: LateAttempt,
): Delivery => {
  const number = delivery.attemptCount + 1
  const attemptsMax = Math.max(delivery.attemptsMax, isRequested ? number + 1 : number)
  const after = recordAttempt({ ...delivery, attemptsMax }, outcome, made, draw)
  if (succeeded(outcome)) return after
  const { status, failedAt, nextAttemptAt } = delivery
  if (isSettled(delivery) || isRequested) return { ...after, status, failedAt, nextAttemptAt }
  // Each answer may ask for a time: the later one holds.
  const isLater = nextAttemptAt && after.nextAttemptAt && nextAttemptAt > after.nextAttemptAt
  return isLater ? { ...after, nextAttemptAt } : after
}

// What was received once stays received.
const exhausted = (delivery: Delivery, at: Date): Delivery =>
  delivery.deliveredAt
    ? { ...delivery, status: 'delivered' }
    : { ...delivery, status: 'abandoned', failedAt: at }

/** The record of a delivery that nobody wants any more, or that must not be tried. */
export const abandon = (delivery: Delivery, reason: FailureReason, at: Date): Delivery =>
  exhausted({ ...delivery, nextAttemptAt: null, reason }, at)

/**
 * The record with one more attempt asked for: the next number, in place of the automatic attempt
 * that may be due, and beyond the attempts that were allowed so far.
 */
export const redeliver = (delivery: Delivery, at: Date): Delivery => ({
  ...delivery,
  status: 'pending',
  attemptsMax: Math.max(delivery.attemptsMax, delivery.attemptCount + 1),
  nextAttemptAt: at,
  failedAt: null,
})

const COALESCED_SECONDS = 60

/** Whether a redelivery was requested so recently that another request is the same one. */
export const isRedelivering = (
  { status, nextAttemptAt }: Pick<Delivery, 'status' | 'nextAttemptAt'>,
  at: Date,
): boolean =>
  status === 'pending' &&
  nextAttemptAt !== null &&
  at.getTime() - nextAttemptAt.getTime() < COALESCED_SECONDS * 1000

/** Of its own accord a delivery is taken up this often; an event that no receiver takes must end. */
const AUTO_RETRIES_MAX = 3

/** The record taken up again because its receiver answers again; undefined: it is not to be. */
export const autoRetry = (delivery: Delivery, at: Date): Delivery | undefined =>
  delivery.status === 'abandoned' && delivery.autoRetries < AUTO_RETRIES_MAX
    ? { ...redeliver(delivery, at), autoRetries: delivery.autoRetries + 1 }
    : undefined

/** Whether a provider takes an event. */
export const isSubscribed = (webhook: Pick<Webhook, 'events'>, event: EventName): boolean =>
  webhook.events
    ? webhook.events.includes(eventTypes[event].event)
    : !('asked' in eventTypes[event])
