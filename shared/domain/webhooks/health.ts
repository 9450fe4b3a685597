import { Refusal } from '../refusal.ts'
import { DAY_MS, HOUR_MS } from '../time.ts'

/** The health of a webhook (docs/api.md#webhook-health). It is written when it changes, not at each attempt. */
export type WebhookHealth = {
  /** Every attempt has failed since. */
  failingSince?: Date
  /** Deliveries abandoned since then are retried when the webhook recovers. */
  exhaustedSince?: Date
  /** Every attempt has been answered with 410 since. */
  goneSince?: Date
  /** Its responses are slow since then, so that its events are sidelined. */
  slowSince?: Date
  disabledAt?: Date
  recoveredAt?: Date
  /** An operator last removed the webhook: the URL of a new one needs an approval. */
  removedAt?: Date
}

type HealthState = 'healthy' | 'failing' | 'exhausted' | 'disabled'

const DISABLED_AFTER_DAYS = 5

/** One debit can be gone for a receiver; all debits of an hour mean that the receiver is. */
const DISABLED_AFTER_GONE_MS = HOUR_MS

/** A response that takes this long is slow (docs/api.md#slow-receivers). */
export const SLOW_SECONDS = 2

/** Receivers should respond within this time (docs/api.md#retries). */
export const PROMPT_SECONDS = 5

export const healthState = (health: WebhookHealth): HealthState => {
  if (health.disabledAt) return 'disabled'
  if (health.exhaustedSince) return 'exhausted'
  return health.failingSince ? 'failing' : 'healthy'
}

/** Clocks differ, so an attempt may precede the first failure. */
export const failingDays = ({ failingSince }: WebhookHealth, at: Date): number =>
  failingSince ? Math.max(0, at.getTime() - failingSince.getTime()) / DAY_MS : 0

export type HealthObservation = {
  at: Date
  /** Whether the response took two seconds or more. */
  isSlow: boolean
  succeeded: boolean
  abandoned: boolean
  /** The receiver answered 410. */
  isGone: boolean
}

/** Returns the health after an attempt; the same object if nothing changes. */
export const noteAttempt = (health: WebhookHealth, attempt: HealthObservation): WebhookHealth => {
  const paced = notePace(health, attempt)
  return attempt.succeeded ? noteSuccess(paced, attempt.at) : noteFailure(paced, attempt)
}

const notePace = (health: WebhookHealth, { isSlow }: HealthObservation): WebhookHealth => {
  if (!health.slowSince || isSlow) return health
  const { slowSince, ...rest } = health
  return rest
}

const noteSuccess = (health: WebhookHealth, at: Date): WebhookHealth => {
  const { failingSince, exhaustedSince, goneSince, disabledAt, ...rest } = health
  return failingSince || exhaustedSince || disabledAt ? { ...rest, recoveredAt: at } : health
}

const noteFailure = (health: WebhookHealth, { at, abandoned, isGone }: HealthObservation) => {
  const failing = health.failingSince ? health : { ...health, failingSince: at }
  const noted = noteGone(abandoned ? noteAbandoned(failing, at) : failing, isGone, at)
  const { goneSince = at, disabledAt } = noted
  const isDead =
    failingDays(noted, at) >= DISABLED_AFTER_DAYS ||
    at.getTime() - goneSince.getTime() >= DISABLED_AFTER_GONE_MS
  if (!isDead || disabledAt) return noted
  // Its next events are abandoned without an attempt.
  return { ...noteAbandoned(noted, at), disabledAt: at }
}

/** Notes an abandoned delivery for the next recovery; returns the same object if one is noted. */
export const noteAbandoned = (health: WebhookHealth, at: Date): WebhookHealth =>
  health.exhaustedSince ? health : { ...health, exhaustedSince: at }

const noteGone = (health: WebhookHealth, isGone: boolean, at: Date): WebhookHealth => {
  const { goneSince, ...others } = health
  if (isGone === (goneSince !== undefined)) return health
  return isGone ? { ...others, goneSince: at } : others
}

/** Marks a webhook as slow; returns the same object if it already is. */
export const noteSlow = (health: WebhookHealth, at: Date): WebhookHealth =>
  health.slowSince ? health : { ...health, slowSince: at }

/** Resets the health of a changed webhook, except for its undelivered events. */
export const renewed = (health: WebhookHealth): WebhookHealth => {
  if (healthState(health) === 'healthy' && !health.slowSince) return health
  const { failingSince, goneSince, slowSince, disabledAt, recoveredAt, ...kept } = health
  return kept
}

/** The refusal of a redelivery to a disabled webhook. */
export const webhookDisabled = (): Refusal =>
  new Refusal(1409, {
    details: 'the webhook is disabled until a ping succeeds or an operator enables it',
  })
