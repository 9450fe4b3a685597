import type { ErrorCode } from '../refusal.ts'
import { escaped } from '../text.ts'
import { deliveryId, type EventKey } from './event.ts'

/** One POST of an event (docs/api.md#retries): its id, its outcome, and the delay after it. */

export type Attempt = {
  /** X-SVC-Delivery-ID. */
  id: string
  /** From 1. */
  number: number
  at: Date
  /** The time of the signature, if its second is not that of `at`: the clock of a sandbox can be moved. */
  sentAt?: Date
  milliseconds: number
  /** The IP address of the connection; null: none was established. */
  address: string | null
  /** The type of the event in the request. */
  sentAs: string
  responseCode: number | null
  /** The first 4 KiB, escaped. */
  responseBody: string | null
  cause: FailureCause | null
}

/** Removes the response of a receiver, which can repeat what it was sent. */
export const eraseAttempt = <A extends Pick<Attempt, 'responseBody'>>(attempt: A): A => ({
  ...attempt,
  responseBody: null,
})

/** Removes the response of an attempt that is not recorded yet. */
export const withoutBody = (outcome: Outcome): Outcome =>
  outcome.kind === 'answered' ? { ...outcome, body: null } : outcome

/** Causes without a response, and two kinds of unsuccessful responses, each with its group in the log. */
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
} as const
export type FailureCause = keyof typeof errorClasses

/** Codes 4001 (failed), 4408 (timeout), 4403 (no longer subscribed), 4404 (webhook removed). */
export const failureReasons = [4001, 4403, 4404, 4408] as const satisfies ErrorCode[]
export type FailureReason = (typeof failureReasons)[number]

/** The outcome of one attempt. `retryAfterSeconds` is from the receiver's Retry-After. */
export type Outcome =
  | { kind: 'answered'; code: number; body: string | null; retryAfterSeconds?: number }
  | { kind: 'unreached'; cause: Exclude<FailureCause, 'status' | 'redirect'> }

export const retriableCodes = [408, 429, 500, 502, 503, 504]
const DELAY_CAP_SECONDS = 300

export const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.code >= 200 && outcome.code < 300

/** The receiver wants no more events (docs/api.md#webhook-health). */
export const isGone = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.code === 410

// A forbidden address stays forbidden; any other receiver may recover.
export const retriable = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' ? retriableCodes.includes(outcome.code) : outcome.cause !== 'address'

const causeOf = (outcome: Outcome): FailureCause | null => {
  if (succeeded(outcome)) return null
  if (outcome.kind === 'unreached') return outcome.cause
  return outcome.code >= 300 && outcome.code < 400 ? 'redirect' : 'status'
}

export const reasonOf = (cause: FailureCause | null): FailureReason | null => {
  if (cause === null) return null
  return errorClasses[cause] === 'timeout' ? 4408 : 4001
}

/**
 * Returns the seconds between attempt `k` and the next: 2^k and up to 10 percent jitter, at least
 * Retry-After, at most 300 (docs/api.md#retries). SQS delays by whole seconds, so delays
 * below 16 s have no jitter.
 * @param random in [0, 1), for the jitter
 */
export const delaySeconds = (k: number, random: number, retryAfterSeconds = 0): number => {
  const base = 2 ** k
  const jitterMax = Math.floor(base * 0.1)
  const delay = base + Math.floor(random * (jitterMax + 1))
  return Math.min(Math.max(delay, retryAfterSeconds), DELAY_CAP_SECONDS)
}

export type AttemptTiming = Pick<
  Attempt,
  'id' | 'at' | 'sentAt' | 'milliseconds' | 'address' | 'sentAs'
>

/** Returns X-SVC-Timestamp: the seconds of a time. */
export const timestampOf = (at: Date): string => String(Math.floor(at.getTime() / 1000))

export const attemptOf = (number: number, outcome: Outcome, timing: AttemptTiming): Attempt => {
  const answered = outcome.kind === 'answered'
  return {
    number,
    ...timing,
    responseCode: answered ? outcome.code : null,
    responseBody: answered && outcome.body !== null ? escaped(outcome.body) : null,
    cause: causeOf(outcome),
  }
}

export const pingAttempt = (outcome: Outcome, timing: AttemptTiming): Attempt =>
  attemptOf(1, outcome, timing)

/**
 * Returns the id of one POST, for X-SVC-Delivery-ID. It is random, because two workers may post the same
 * event concurrently.
 * @param random 8 random bytes
 */
export const attemptId = (event: EventKey, random: Uint8Array): string =>
  `dlv_${deliveryId(event)}_${Buffer.from(random).toString('hex')}`

export const ATTEMPT_ID_BYTES = 8
