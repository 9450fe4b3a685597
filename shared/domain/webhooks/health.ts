import { DAY_MS } from '../time.ts'
/**
 * How a provider's webhook fares, as far as it changes anything: written when it turns, not at
 * each attempt.
 */
export type WebhookHealth = {
  /** Since when every attempt has failed. */
  failingSince?: Date
  /** Since when deliveries have been abandoned that are to be taken up when it answers again. */
  exhaustedSince?: Date
  /** Since when its answers are so slow that its events wait apart from those of others. */
  slowSince?: Date
  /** When it was given up. */
  disabledAt?: Date
  /** When it answered again last. */
  recoveredAt?: Date
}

export type HealthState = 'healthy' | 'failing' | 'exhausted' | 'disabled'

const DISABLED_AFTER_DAYS = 5

/** An attempt without an answer for so long is slow. */
export const SLOW_SECONDS = 2

/** Receivers are asked to answer within this (specification, Retry of deliveries, 8). */
export const PROMPT_SECONDS = 5

export const healthState = (health: WebhookHealth): HealthState => {
  if (health.disabledAt) return 'disabled'
  if (health.exhaustedSince) return 'exhausted'
  return health.failingSince ? 'failing' : 'healthy'
}

/** Days for which every attempt has failed. */
export const failingDays = ({ failingSince }: WebhookHealth, now: Date): number =>
  failingSince ? (now.getTime() - failingSince.getTime()) / DAY_MS : 0

export type HealthObservation = {
  at: Date
  milliseconds: number
  succeeded: boolean
  abandoned: boolean
}

/** The health after an attempt; the very same object when nothing turned. */
export const noteAttempt = (health: WebhookHealth, attempt: HealthObservation): WebhookHealth => {
  const paced = notePace(health, attempt)
  return attempt.succeeded ? noteSuccess(paced, attempt.at) : noteFailure(paced, attempt)
}

const notePace = (health: WebhookHealth, { milliseconds }: HealthObservation): WebhookHealth => {
  if (!health.slowSince || milliseconds >= SLOW_SECONDS * 1000) return health
  const { slowSince, ...rest } = health
  return rest
}

const noteSuccess = (health: WebhookHealth, at: Date): WebhookHealth => {
  const { failingSince, exhaustedSince, disabledAt, ...rest } = health
  return failingSince || exhaustedSince || disabledAt ? { ...rest, recoveredAt: at } : health
}

const noteFailure = (
  health: WebhookHealth,
  { at, abandoned }: HealthObservation,
): WebhookHealth => {
  const failing = health.failingSince ? health : { ...health, failingSince: at }
  const exhausted =
    abandoned && !failing.exhaustedSince ? { ...failing, exhaustedSince: at } : failing
  const isOver = failingDays(exhausted, at) >= DISABLED_AFTER_DAYS && !exhausted.disabledAt
  return isOver ? { ...exhausted, disabledAt: at } : exhausted
}

/** The health of a webhook whose attempt is taking long; the very same object when that is known. */
export const noteSlow = (health: WebhookHealth, at: Date): WebhookHealth =>
  health.slowSince ? health : { ...health, slowSince: at }

/** The health of a webhook that was set anew: as good as new, but for what it still owes. */
export const renewed = (health: WebhookHealth): WebhookHealth => {
  const { exhaustedSince } = health
  if (healthState(health) === 'healthy' && !health.slowSince) return health
  return exhaustedSince ? { exhaustedSince } : {}
}
