import type { ErrorCode } from '../refusal.ts'
import { escaped } from '../text.ts'
import { deliveryId, type EventKey } from './event.ts'

/** One POST of an event: its id, its outcome, and the delay after it. */

/** One HTTP try. */
export type Attempt = {
  /** X-SVC-Delivery-ID. */
  id: string
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
export const retriable = (outcome: Outcome): boolean =>
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

/** One try as it was made: its id, when it began, how long it took, where it went, and as what. */
export type AttemptTiming = Pick<Attempt, 'id' | 'at' | 'milliseconds' | 'address' | 'sentAs'>

export const attemptOf = (number: number, outcome: Outcome, made: AttemptTiming): Attempt => {
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
export const pingAttempt = (outcome: Outcome, made: AttemptTiming): Attempt =>
  attemptOf(1, outcome, made)

/**
 * The id of one POST, in X-SVC-Delivery-ID. It is drawn, because two workers may post the same
 * event at the same time; the event id is the same in all of them.
 * @param random 8 random bytes
 */
export const attemptId = (event: EventKey, random: Uint8Array): string =>
  `dlv_${deliveryId(event)}_${Buffer.from(random).toString('hex')}`

export const ATTEMPT_ID_BYTES = 8
