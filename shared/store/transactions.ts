import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Jitter } from '../runtime.ts'
import { isConflict, reasons, withConflictRetries } from './conflicts.ts'
import { table, type Write } from './table.ts'

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

/** Writes several items, all or none, and retries conflicts. Returns {@link failedWrites}. */
export const transactWrites = (TransactItems: Write[], runtime: Jitter): Promise<boolean[]> =>
  withConflictRetries(
    () => failedWrites(table.send(new TransactWriteCommand({ TransactItems }))),
    runtime,
  )

/** Does the same. Returns false when a condition was not met. */
export const transact = async (writes: Write[], runtime: Jitter): Promise<boolean> =>
  (await transactWrites(writes, runtime)).length === 0
