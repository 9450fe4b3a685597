import { secondsAfter } from '../time.ts'

/** The health of a bank, decided from its replies (docs/architecture.md#health-of-banks). */

export const bankStates = ['up', 'slow', 'down'] as const
export type BankState = (typeof bankStates)[number]

export type BankHealth = {
  state: BankState
  /** Absent: the state has never changed. */
  since?: Date
  /** The start of the first failed request since the last well-formed reply. */
  failingSince?: Date
  /** Failed requests since then, counted up to the number that makes a bank down. */
  failures: number
  /** The end of the last outage. */
  recoveredAt?: Date
}

export const HEALTHY: BankHealth = { state: 'up', failures: 0 }

/** A bank is down after this time without a well-formed reply and this number of failed requests. */
const DOWN_SECONDS = 120
const DOWN_FAILURES = 5

/** The retries of a submission are closer together, so an older failure belongs to an earlier fault. */
const FORGOTTEN_SECONDS = 600

/** An outage ends for the last debit that waited in it after this time. */
const RESUMING_SECONDS = 600

type Failure = {
  from: Date
  at: Date
  /** The bank did not reply in the time of the workers that all banks share. */
  isLate: boolean
}

/** Returns the health after a request without a well-formed reply; the same object if nothing changes. */
export const afterFailure = (health: BankHealth, { from, at, isLate }: Failure): BankHealth => {
  if (health.state === 'down') return health
  const { failingSince: earlier } = health
  const continues = earlier && secondsAfter(earlier, FORGOTTEN_SECONDS) > at
  const failingSince = continues ? earlier : from
  const failures = Math.min((continues ? health.failures : 0) + 1, DOWN_FAILURES)
  const isDown = failures === DOWN_FAILURES && secondsAfter(failingSince, DOWN_SECONDS) <= at
  const state = isDown ? 'down' : isLate ? 'slow' : health.state
  if (state !== health.state) return { ...health, state, since: at, failingSince, failures }
  return continues && failures === health.failures ? health : { ...health, failingSince, failures }
}

/**
 * Returns the health after a well-formed reply, which ends an outage; a slow bank is up after a prompt
 * one. The same object if nothing changes.
 */
export const afterReply = (
  health: BankHealth,
  { at, isPrompt }: { at: Date; isPrompt: boolean },
): BankHealth => {
  const { failingSince: _, ...rest } = health
  const wasDown = health.state === 'down'
  const isUp = wasDown || (health.state === 'slow' && isPrompt)
  if (!isUp && health.failures === 0) return health
  return {
    ...rest,
    failures: 0,
    ...(isUp && { state: 'up', since: at }),
    ...(wasDown && { recoveredAt: at }),
  }
}

/** Reports whether submissions that waited for the bank can continue. */
export const isResuming = ({ state, recoveredAt }: BankHealth, now: Date): boolean =>
  state !== 'down' && recoveredAt !== undefined && secondsAfter(recoveredAt, RESUMING_SECONDS) > now
