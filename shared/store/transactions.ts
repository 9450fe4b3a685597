import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Jitter } from '../runtime.ts'
import { table, type Write } from './table.ts'

const BUDGET_MS = 12_000
/** Another write at the same item, or more writes than its partition accepts. */
const CONFLICTS = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']
const PAUSE_FIRST_MS = 20
const PAUSE_CAP_MS = 1_000

/**
 * Reports whether a write conflicted with another one and must be retried. A condition that failed in
 * the same transaction is not final: the other writer may be about to commit the same change.
 */
const isConflict = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    reasons(error).some((reason) => CONFLICTS.includes(reason)))

/** Returns why each write of a cancelled transaction failed, by its position. */
const reasons = (error: TransactionCanceledException): string[] =>
  (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None')

/** Returns which conditions failed, by position. @throws the error itself after a conflict */
export const failedConditions = (error: TransactionCanceledException): boolean[] => {
  if (isConflict(error)) throw error
  return reasons(error).map((reason) => reason === 'ConditionalCheckFailed')
}

/** Returns which writes failed their conditions, by position; none if the transaction succeeded. */
export const failedWrites = async (transaction: Promise<unknown>): Promise<boolean[]> => {
  try {
    await transaction
    return []
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failed = failedConditions(error)
    if (!failed.includes(true)) throw error
    return failed
  }
}

/** Returns false when a condition of a transaction was not met. */
export const transactionMet = async (transaction: Promise<unknown>): Promise<boolean> =>
  (await failedWrites(transaction)).length === 0

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

/** Writes several items, all or none, and retries conflicts. Returns {@link failedWrites}. */
export const transactWrites = (TransactItems: Write[], runtime: Jitter): Promise<boolean[]> =>
  withConflictRetries(
    () => failedWrites(table.send(new TransactWriteCommand({ TransactItems }))),
    runtime,
  )

/** Does the same. Returns false when a condition was not met. */
export const transact = async (writes: Write[], runtime: Jitter): Promise<boolean> =>
  (await transactWrites(writes, runtime)).length === 0
