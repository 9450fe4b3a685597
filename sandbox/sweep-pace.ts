import type { RealClock } from './aws/clock.ts'
import type { Change } from './aws/table/change.ts'

const MINUTE_MS = 60_000
const BUSY_MINUTES = 10
const QUIET_MINUTES = 60

/**
 * Slows the sweep down while the clock moves: it runs each minute for ten minutes after a change, then
 * each hour. It would find nothing in between, and five days have 7,200 minutes.
 */
export const sweepPace = (clock: RealClock) => {
  let changedAt = 0
  let sweptAt = 0
  return {
    onCommit: (changes: readonly Change[]): void => {
      if (changes.some(({ after }) => after?.entity !== 'sweep')) changedAt = clock.now()
    },
    /** Reports whether a schedule must not send its message. */
    skips: (arn: string): boolean => {
      const now = clock.now()
      if (!arn.endsWith(':sweeps')) return false
      const isBusy = now - changedAt < BUSY_MINUTES * MINUTE_MS
      if (clock.isMoving() && !isBusy && now - sweptAt < QUIET_MINUTES * MINUTE_MS) return true
      sweptAt = now
      return false
    },
  }
}
