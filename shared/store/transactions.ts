import {
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Runtime } from '../runtime.ts'
import { table, type Write } from './table.ts'

const BUDGET_MS = 12_000
/** Another write at the same item, or more of them than its partition takes at once. */
const CONFLICTS = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']
const PAUSE_FIRST_MS = 20
const PAUSE_CAP_MS = 1_000

/**
 * Two writers met at one item; neither is wrong, and one of them should come again. A condition
 * that failed beside the conflict is no answer yet: what the other writer is about to commit may
 * be the very thing that was asked for.
 */
const isConflict = (error: unknown): boolean =>
  error instanceof TransactionConflictException ||
  (error instanceof TransactionCanceledException &&
    reasons(error).some((reason) => CONFLICTS.includes(reason)))

/** Why each write of a cancelled transaction did not happen, by its position. */
const reasons = (error: TransactionCanceledException): string[] =>
  (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None')

/**
 * Which conditions of a cancelled transaction failed, by the position of their writes.
 * @throws the error itself when a conflict leaves it open
 */
export const failedConditions = (error: TransactionCanceledException): boolean[] => {
  if (isConflict(error)) throw error
  return reasons(error).map((reason) => reason === 'ConditionalCheckFailed')
}

/** @returns false when a condition of a transaction did not hold */
export const transactionMet = async (transaction: Promise<unknown>): Promise<boolean> => {
  try {
    await transaction
    return true
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    if (!failedConditions(error).includes(true)) throw error
    return false
  }
}

/**
 * Repeats a write that met another one, with full jitter: a burst of charges on one day total
 * finds its turns within seconds. What has waited in vain for twelve, inside the request's own
 * deadline, is thrown; the API answers it with 503/1503.
 */
export const withConflictRetries = async <T>(
  runtime: Pick<Runtime, 'random' | 'pause'>,
  write: () => Promise<T>,
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

/**
 * Writes several items, all or none, and retries while another write conflicts.
 * @returns false when a condition did not hold
 */
export const transact = (
  TransactItems: Write[],
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<boolean> =>
  withConflictRetries(runtime, () =>
    transactionMet(table.send(new TransactWriteCommand({ TransactItems }))),
  )
