import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { type Jitter, pause } from '../runtime.ts'

const BUDGET_MS = 12_000
/** Another write at the same item, or more writes than its partition accepts. */
const CONFLICTS = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']
const PAUSE_FIRST_MS = 20
const PAUSE_CAP_MS = 1_000

/**
 * Reports whether a write conflicted with another one and must be retried. A condition that failed in
 * the same transaction is not final: the other writer may be about to commit the same change.
 */
export const isConflict = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    reasons(error).some((reason) => CONFLICTS.includes(reason)))

/** Returns why each write of a cancelled transaction failed, by its position. */
export const reasons = (error: TransactionCanceledException): string[] =>
  (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None')

/** For plain writes, which conflict with transactions, not with each other. A simulated run can be replayed. */
export const withoutJitter: Jitter = { pause, random: () => 1 }

/**
 * Retries a write that conflicts with another one, with exponential backoff and full jitter. Throws
 * the conflict after pauses of twelve seconds; the API then replies 503/1503.
 */
export const withConflictRetries = async <T>(
  write: () => Promise<T>,
  runtime: Jitter,
): Promise<T> => {
  let paused = 0
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      if (!isConflict(error) || paused >= BUDGET_MS) throw error
      const pause = runtime.random() * Math.min(PAUSE_FIRST_MS * 2 ** attempt, PAUSE_CAP_MS)
      paused += pause
      await runtime.pause(pause)
    }
  }
}
