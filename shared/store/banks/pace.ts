import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'

/** Whether a bank replies too late for the workers that all banks share. */

const slow = ttlCache<boolean>(1_000)

/** Cached: a worker with a stale cache learns it at its first submission. */
export const isSlowBank = (bank: BankIdentifier, now: Date): Promise<boolean> =>
  slow(bank, now, async () => {
    const item = await db.read<{ slowSince?: string }>(keys.bankPace(bank))
    return item?.slowSince !== undefined
  })

export const markSlowBank = async (bank: BankIdentifier, now: Date): Promise<void> => {
  slow.set(bank, true, now)
  await db.updateIf(keys.bankPace(bank), {
    UpdateExpression: 'SET entity = :entity, slowSince = :now',
    ConditionExpression: 'attribute_not_exists(slowSince)',
    ExpressionAttributeValues: { ':entity': 'bank-pace', ':now': now.toISOString() },
  })
}

export const clearSlowBank = async (bank: BankIdentifier, now: Date): Promise<void> => {
  slow.set(bank, false, now)
  await db.updateIf(keys.bankPace(bank), {
    UpdateExpression: 'REMOVE slowSince',
    ConditionExpression: 'attribute_exists(slowSince)',
  })
}
