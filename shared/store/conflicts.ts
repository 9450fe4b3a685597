import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import type { Runtime } from '../runtime.ts'

const ATTEMPTS_MAX = 7
const PAUSE_FIRST_MS = 20
const PAUSE_CAP_MS = 640

/** Two writers met at one item; neither is wrong, and one of them should come again. */
const isConflict = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    // A failed condition is an answer; only where nothing but conflicts stood in the way is the
    // question still open.
    !reasons(error).includes('ConditionalCheckFailed') &&
    reasons(error).includes('TransactionConflict'))

/** Why each write of a cancelled transaction did not happen, by its position. */
export const reasons = (error: TransactionCanceledException): string[] =>
  (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None')

/**
 * Repeats a write that met another one, up to six times with full jitter: about two seconds in
 * all, well inside a request. The last conflict is thrown; the API answers it with 503/1503.
 */
export const withConflictRetries = async <T>(
  runtime: Pick<Runtime, 'random' | 'pause'>,
  write: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS_MAX) throw error
      const ceiling = Math.min(PAUSE_FIRST_MS * 2 ** attempt, PAUSE_CAP_MS)
      await runtime.pause(runtime.random() * ceiling)
    }
  }
}
