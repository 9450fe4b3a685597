import { type EventName, eventTypes } from './event-type.ts'
import type { PartnerId, Webhook } from './partner.ts'
import type { Reference } from './reference.ts'

/** One event owed to one partner (specification, Webhook delivery record). */
export type Delivery = {
  reference: Reference
  /** The number of the event within its debit. */
  n: number
  partner: PartnerId
  event: EventName
  status: DeliveryStatus
  attemptCount: number
  attemptsMax: number
  responseCode: number | null
  responseBody: string | null
  /** Why the last attempt was not a success. */
  cause: FailureCause | null
  nextAttemptAt: Date | null
  deliveredAt: Date | null
  failedAt: Date | null
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'abandoned'

/** Causes without an answer, and the two kinds of answer that are not a success. */
export type FailureCause =
  | 'connect_timeout'
  | 'read_timeout'
  | 'refused'
  | 'dns'
  | 'tls'
  | 'broken'
  | 'address'
  | 'status'

/** What one attempt came to. `retryAfterSeconds` is what the receiver asked for. */
export type Outcome =
  | { kind: 'answered'; code: number; body: string; retryAfterSeconds?: number }
  | { kind: 'unreached'; cause: Exclude<FailureCause, 'status'> }

const RETRIABLE_CODES = new Set([408, 429, 500, 502, 503, 504])
const DELAY_CAP_SECONDS = 300

const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.code >= 200 && outcome.code < 300

// A forbidden address stays forbidden; every other unreached receiver may come back.
const retriable = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' ? RETRIABLE_CODES.has(outcome.code) : outcome.cause !== 'address'

/** Total attempts: the partner's own setting, else the first one and the retries of the class. */
export const attemptsMax = (event: EventName, webhook: Pick<Webhook, 'attemptsMax'>): number =>
  webhook.attemptsMax ?? 1 + eventTypes[event].retries

/**
 * Seconds before the attempt that follows attempt `k`: 2^k and up to 10 percent, at most 300,
 * and not before the receiver asked to be left alone until (specification, Retry of deliveries).
 * SQS counts whole seconds, so the fraction is rounded up as often as it is large.
 * @param draw two numbers in [0, 1): for the jitter and for the rounding
 */
export const delaySeconds = (
  k: number,
  draw: readonly [number, number],
  retryAfterSeconds = 0,
): number => {
  const base = 2 ** k
  const exact = Math.min(
    Math.max(base + base * 0.1 * draw[0], retryAfterSeconds),
    DELAY_CAP_SECONDS,
  )
  const whole = Math.floor(exact)
  return whole + (draw[1] < exact - whole ? 1 : 0)
}

/** The record before its first attempt. */
export const owed = (
  event: { reference: Reference; n: number; event: EventName; partner: PartnerId },
  webhook: Pick<Webhook, 'attemptsMax'>,
): Delivery => ({
  ...event,
  status: 'pending',
  attemptCount: 0,
  attemptsMax: attemptsMax(event.event, webhook),
  responseCode: null,
  responseBody: null,
  cause: null,
  nextAttemptAt: null,
  deliveredAt: null,
  failedAt: null,
})

/** Delivered or abandoned: nothing more is tried. */
export const isSettled = (delivery: Delivery): boolean =>
  delivery.status === 'delivered' || delivery.status === 'abandoned'

/** The record after one more attempt (specification, Webhook delivery states). */
export const recordAttempt = (
  delivery: Delivery,
  outcome: Outcome,
  at: Date,
  draw: readonly [number, number],
): Delivery => {
  const attemptCount = delivery.attemptCount + 1
  const answered = outcome.kind === 'answered'
  const attempted: Delivery = {
    ...delivery,
    attemptCount,
    responseCode: answered ? outcome.code : null,
    responseBody: answered ? outcome.body : null,
    cause: succeeded(outcome) ? null : answered ? 'status' : outcome.cause,
    nextAttemptAt: null,
  }
  if (succeeded(outcome)) return { ...attempted, status: 'delivered', deliveredAt: at }
  if (!retriable(outcome) || attemptCount >= delivery.attemptsMax) {
    return { ...attempted, status: 'abandoned', failedAt: at }
  }
  const seconds = delaySeconds(attemptCount, draw, answered ? outcome.retryAfterSeconds : undefined)
  return {
    ...attempted,
    status: 'failed',
    nextAttemptAt: new Date(at.getTime() + seconds * 1000),
  }
}
