import { deliveryId, type PartnerEvent } from './event.ts'
import { type EventName, eventTypes } from './event-type.ts'
import type { PartnerId, Webhook } from './partner.ts'
import type { Reference } from './reference.ts'
import type { ErrorCode } from './refusal.ts'
import { escaped } from './text.ts'

/** One event owed to one partner (specification, Webhook delivery record). */
export type Delivery = {
  reference: Reference
  /** The number of the event within its debit or batch. */
  n: number
  partner: PartnerId
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
  revivals: number
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'abandoned'

/** One HTTP try. */
export type Attempt = {
  /** From 1. */
  number: number
  at: Date
  milliseconds: number
  /** The IP address that it went to, if a connection stood. */
  address: string | null
  /** The type of the event as it was sent. */
  sentAs: string
  responseCode: number | null
  /** The first 4 KiB, with everything escaped that a terminal or a page could obey. */
  responseBody: string | null
  /** Why it was not a success. */
  cause: FailureCause | null
}

/** Causes without an answer, and the two kinds of answer that are not a success. */
export type FailureCause =
  | 'connect_timeout'
  | 'read_timeout'
  | 'refused'
  | 'broken'
  | 'dns'
  | 'tls'
  | 'address'
  | 'redirect'
  | 'status'

/** Codes 4001 (failed), 4408 (timeout), 4403 (no longer subscribed), 4404 (no webhook any more). */
export type FailureReason = Extract<ErrorCode, 4001 | 4403 | 4404 | 4408>

/** What one attempt came to. `retryAfterSeconds` is what the receiver asked for. */
export type Outcome =
  | { kind: 'answered'; code: number; body: string; retryAfterSeconds?: number }
  | { kind: 'unreached'; cause: Exclude<FailureCause, 'status' | 'redirect'> }

/** Causes as an attempt's log groups them. */
export const errorClasses = {
  connect_timeout: 'timeout',
  read_timeout: 'timeout',
  refused: 'connect',
  broken: 'connect',
  dns: 'dns',
  tls: 'tls',
  address: 'address',
  redirect: 'redirect',
  status: 'status',
} as const satisfies Record<FailureCause, string>

const RETRIABLE_CODES = new Set([408, 429, 500, 502, 503, 504])
const DELAY_CAP_SECONDS = 300

/** Any 2xx. */
export const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.code >= 200 && outcome.code < 300

// A forbidden address stays forbidden; every other unreached receiver may come back.
const retriable = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' ? RETRIABLE_CODES.has(outcome.code) : outcome.cause !== 'address'

const causeOf = (outcome: Outcome): FailureCause | null => {
  if (succeeded(outcome)) return null
  if (outcome.kind === 'unreached') return outcome.cause
  return outcome.code >= 300 && outcome.code < 400 ? 'redirect' : 'status'
}

/** The published code of a cause. */
export const reasonOf = (cause: FailureCause | null): FailureReason | null => {
  if (cause === null) return null
  return errorClasses[cause] === 'timeout' ? 4408 : 4001
}

/** Total attempts: the partner's own setting, else the first one and the retries of the class. */
export const attemptsMax = (event: EventName, webhook: Pick<Webhook, 'attemptsMax'>): number =>
  webhook.attemptsMax ?? 1 + eventTypes[event].retries

/**
 * Returns the seconds before the attempt that follows attempt `k`: 2^k and up to 10 percent, at
 * most 300, and at least what the receiver asks for (specification, Retry of deliveries). SQS
 * delays by whole seconds, so there is no jitter below 16 s.
 * @param draw in [0, 1), for the jitter
 */
export const delaySeconds = (k: number, draw: number, retryAfterSeconds = 0): number => {
  const base = 2 ** k
  const jitterMax = Math.floor(base * 0.1)
  const delay = base + Math.floor(draw * (jitterMax + 1))
  return Math.min(Math.max(delay, retryAfterSeconds), DELAY_CAP_SECONDS)
}

type Owed = Pick<PartnerEvent, 'reference' | 'n' | 'partner' | 'type' | 'at'>

/** The record before its first attempt. */
export const owed = (
  { reference, n, partner, type, at }: Owed,
  webhook: Pick<Webhook, 'attemptsMax'>,
): Delivery => ({
  reference,
  n,
  partner,
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
  revivals: 0,
})

/** Delivered or abandoned: nothing more is tried of its own accord. */
export const isSettled = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'delivered' || status === 'abandoned'

/** One try as it was made: when it began, how long it took, where it went, and as what. */
export type Try = Pick<Attempt, 'at' | 'milliseconds' | 'address' | 'sentAs'>

const attemptOf = (number: number, outcome: Outcome, made: Try): Attempt => {
  const answered = outcome.kind === 'answered'
  return {
    number,
    ...made,
    responseCode: answered ? outcome.code : null,
    responseBody: answered ? escaped(outcome.body) : null,
    cause: causeOf(outcome),
  }
}

/** A try that is the first and the last: nothing is owed. */
export const firstTry = (outcome: Outcome, made: Try): Attempt => attemptOf(1, outcome, made)

/** The record after one more attempt (specification, Webhook delivery states). */
export const recordAttempt = (
  delivery: Delivery,
  outcome: Outcome,
  made: Try,
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
  if (!retriable(outcome) || number >= delivery.attemptsMax) return givenUp(attempted, endedAt)
  const asked = outcome.kind === 'answered' ? outcome.retryAfterSeconds : undefined
  const seconds = delaySeconds(number, draw, asked)
  return {
    ...attempted,
    status: 'failed',
    nextAttemptAt: new Date(endedAt.getTime() + seconds * 1000),
  }
}

// What was received once stays received.
const givenUp = (delivery: Delivery, at: Date): Delivery =>
  delivery.deliveredAt
    ? { ...delivery, status: 'delivered' }
    : { ...delivery, status: 'abandoned', failedAt: at }

/** The record of a delivery that nobody wants any more, or that must not be tried. */
export const abandon = (delivery: Delivery, reason: FailureReason, at: Date): Delivery =>
  givenUp({ ...delivery, nextAttemptAt: null, reason }, at)

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

/** Of its own accord a delivery is taken up this often; an event that no receiver takes must end. */
const REVIVALS_MAX = 3

/** The record taken up again because its receiver answers again; undefined: it is not to be. */
export const revive = (delivery: Delivery, at: Date): Delivery | undefined =>
  delivery.status === 'abandoned' && delivery.revivals < REVIVALS_MAX
    ? { ...redeliver(delivery, at), revivals: delivery.revivals + 1 }
    : undefined

/** The record once it was received after all, whatever another worker wrote of the same attempt. */
export const received = (delivery: Delivery, at: Date): Delivery => ({
  ...delivery,
  status: 'delivered',
  nextAttemptAt: null,
  deliveredAt: delivery.deliveredAt ?? at,
  failedAt: null,
  reason: null,
})

/** Whether a partner takes an event. */
export const isSubscribed = (webhook: Pick<Webhook, 'events'>, event: EventName): boolean =>
  webhook.events
    ? webhook.events.includes(eventTypes[event].event)
    : !('asked' in eventTypes[event])

/** Names one attempt, where the event's own id names the event in all of them. */
export const attemptId = ({ reference, n }: Pick<Delivery, 'reference' | 'n'>, number: number) =>
  `dlv_${deliveryId(reference, n)}_${number}`
