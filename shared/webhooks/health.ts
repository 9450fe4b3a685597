import type { ProviderId } from '../domain/providers/provider.ts'
import {
  type HealthObservation,
  noteAttempt,
  noteSlow,
  PROMPT_SECONDS,
  SLOW_SECONDS,
  type WebhookHealth,
} from '../domain/webhooks/health.ts'
import { automaticRecoveries } from '../domain/webhooks/recovery.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { changeHealth } from '../store/webhooks/health.ts'
import { openRecovery } from '../store/webhooks/recoveries.ts'
import { logHealthChange } from './telemetry.ts'

/** `first-slow`: this attempt marked the webhook as slow. `slow`: another attempt had marked it. */
type Pace = 'quick' | 'first-slow' | 'slow'

/**
 * Waits for a response until it is slow, then marks its webhook while the attempt continues. Later
 * events then move to the sidelined queue (docs/api.md#slow-receivers).
 */
export const markSlow = async (
  provider: ProviderId,
  responding: Promise<unknown>,
  runtime: Pick<Runtime, 'now' | 'pause'>,
): Promise<Pace> => {
  if (!(await takesLonger(responding, SLOW_SECONDS, runtime))) return 'quick'
  const at = runtime.now()
  let isFirst = false
  try {
    await changeHealth(provider, (health) => {
      const next = noteSlow(health, at)
      // Only one of concurrent attempts writes.
      isFirst = next !== health
      return next
    })
    return isFirst ? 'first-slow' : 'slow'
  } catch (error) {
    // The attempt continues; the next slow attempt marks the webhook.
    log.warn('marking the webhook as slow failed', { provider, error: error as Error })
    return 'first-slow'
  }
}

/** Reports whether a slow attempt gets its response within the time that receivers should keep. */
export const isPrompt = async (responding: Promise<unknown>, runtime: Pick<Runtime, 'pause'>) =>
  !(await takesLonger(responding, PROMPT_SECONDS - SLOW_SECONDS, runtime))

const takesLonger = async (
  responding: Promise<unknown>,
  seconds: number,
  runtime: Pick<Runtime, 'pause'>,
): Promise<boolean> => {
  const done = new AbortController()
  return Promise.race([
    responding.then(() => false),
    runtime.pause(seconds * 1000, done.signal).then(() => true),
  ]).finally(() => done.abort())
}

export type OutcomeObservation = {
  provider: ProviderId
  /** The health as read before the attempt. */
  health: WebhookHealth
  isSlow: boolean
  succeeded: boolean
  isGone: boolean
}

/**
 * Updates the health after an attempt, and starts the recovery of a webhook (docs/api.md#recovery).
 * `abandoned`: the delivery has no attempts left.
 */
export const recordOutcome = async (
  { provider, health, ...outcome }: OutcomeObservation & { abandoned: boolean },
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const at = runtime.now()
  const observation: HealthObservation = { at, ...outcome }
  // Most attempts change nothing and need no read. An abandoned delivery must be recorded for certain.
  const mayChange = outcome.abandoned || noteAttempt(health, observation) !== health
  const next = mayChange ? await updateHealth(provider, observation) : health
  logHealthChange(provider, health, next, at)
}

/** Decides by the current health, because a concurrent attempt may have exhausted its delivery. */
const updateHealth = (provider: ProviderId, observation: HealthObservation) =>
  changeHealth(provider, async (health) => {
    const { exhaustedSince } = health
    if (observation.succeeded && exhaustedSince) {
      const id = `automatic-${exhaustedSince.getTime()}`
      // Before the write that clears `exhaustedSince`: after a crash the recovery still exists.
      const recoveries = automaticRecoveries({ provider, id, now: observation.at })
      for (const recovery of recoveries) await openRecovery(recovery)
    }
    return noteAttempt(health, observation)
  })
