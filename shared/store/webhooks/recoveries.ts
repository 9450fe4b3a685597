import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { Recovery } from '../../domain/webhooks/recovery.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { dueAttributes } from '../work-index.ts'

const RETENTION_SECONDS = 90 * DAY_SECONDS

export const fromRecoveryItem = (item: db.Item): Recovery => {
  const { expiresAt, ...recovery } = db.withoutKeys<db.Item>(item)
  return fromStored<Recovery>(recovery, { since: true, until: true, runAt: true })
}

const toRecoveryItem = (recovery: Recovery) => {
  const { provider, id, status, runAt, until } = recovery
  const key = keys.recovery(provider, id)
  return {
    ...key,
    entity: 'recovery',
    ...toStored(recovery),
    ...(status === 'running' && dueAttributes(key, runAt, id)),
    expiresAt: db.expiresAt(until, RETENTION_SECONDS),
  }
}

export const findRecovery = (provider: ProviderId, id: string): Promise<Recovery | undefined> =>
  db.find(keys.recovery(provider, id), fromRecoveryItem)

/**
 * Starts a recovery. A recovery of this id that is done starts again: the worker that ended it may have
 * crashed, and more events may be undelivered since.
 * @returns false when a recovery of this id is running
 */
export const openRecovery = (recovery: Recovery): Promise<boolean> =>
  db.putIf(toRecoveryItem(recovery), {
    ConditionExpression: 'attribute_not_exists(pk) OR #status = :done',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':done': 'done' },
  })

/** Records a page of a recovery. Returns false when another worker recorded it. */
export const putPage = (recovery: Recovery): Promise<boolean> =>
  db.putIf(toRecoveryItem(recovery), {
    ConditionExpression: 'page = :previous',
    ExpressionAttributeValues: { ':previous': recovery.page - 1 },
  })
