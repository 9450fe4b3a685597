import type { ProviderId } from '../domain/providers/provider.ts'
import type { AttemptTiming } from '../domain/webhooks/attempt.ts'
import {
  type HealthObservation,
  noteAttempt,
  noteSlow,
  PROMPT_SECONDS,
  SLOW_SECONDS,
  type WebhookHealth,
} from '../domain/webhooks/health.ts'
import { automaticRecovery } from '../domain/webhooks/recovery.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { changeHealth } from '../store/webhooks/health.ts'
import { openRecovery } from '../store/webhooks/recoveries.ts'
import { logHealthChange } from './telemetry.ts'

/** Keeps the health of a webhook in step with its attempts. */

export type Pace = 'quick' | 'slow' | 'slow beside others'

/**
 * Waits for an attempt, for as long as is not slow; beyond that the webhook is marked, while the
 * attempt goes on, so that the events that follow do not hold up those of others.
 * @returns `slow beside others` when another attempt that goes on had marked it
 */
export const markSlow = async (
  provider: ProviderId,
  sending: Promise<unknown>,
  runtime: Pick<Runtime, 'now' | 'pause'>,
): Promise<Pace> => {
  if (!(await takesLonger(sending, SLOW_SECONDS, runtime))) return 'quick'
  const at = runtime.now()
  try {
    const { slowSince } = await changeHealth(provider, (health) => noteSlow(health, at))
    return slowSince?.getTime() === at.getTime() ? 'slow' : 'slow beside others'
  } catch (error) {
    // The attempt counts for more; the next one that is slow marks it.
    log.warn('marking the webhook as slow failed', { provider, error: error as Error })
    return 'slow'
  }
}

/** Whether a slow attempt is answered within the time that receivers are asked to keep to. */
export const isPrompt = async (
  sending: Promise<unknown>,
  runtime: Pick<Runtime, 'pause'>,
): Promise<boolean> => !(await takesLonger(sending, PROMPT_SECONDS - SLOW_SECONDS, runtime))

const takesLonger = async (
  sending: Promise<unknown>,
  seconds: number,
  runtime: Pick<Runtime, 'pause'>,
): Promise<boolean> => {
  const answered = new AbortController()
  return Promise.race([
    sending.then(() => false),
    runtime.pause(seconds * 1000, answered.signal).then(() => true),
  ]).finally(() => answered.abort())
}

type OutcomeRecord = {
  provider: ProviderId
  /** As it was read before the attempt. */
  health: WebhookHealth
  made: AttemptTiming
  succeeded: boolean
  /** Nothing more is tried for what was attempted. */
  abandoned: boolean
}

/** Writes what an attempt turned; when the webhook answers again, what it missed is taken up. */
export const recordOutcome = async (
  { provider, health, made, succeeded, abandoned }: OutcomeRecord,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const at = runtime.now()
  const noted: HealthObservation = { at, milliseconds: made.milliseconds, succeeded, abandoned }
  // By what was read before, most attempts turn nothing; that something is owed must be sure.
  const mayTurn = abandoned || noteAttempt(health, noted) !== health
  const after = mayTurn ? await updateHealth(provider, noted) : health
  logHealthChange(provider, health, after, at)
}

/** By what stands now: another attempt may have been the last of its delivery meanwhile. */
const updateHealth = (provider: ProviderId, noted: HealthObservation): Promise<WebhookHealth> =>
  changeHealth(provider, async (health) => {
    const { exhaustedSince } = health
    if (noted.succeeded && exhaustedSince) {
      const id = `automatic-${exhaustedSince.getTime()}`
      // Before it is forgotten that anything is owed.
      await openRecovery(automaticRecovery({ provider, id, now: noted.at }))
    }
    return noteAttempt(health, noted)
  })
