import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { Recovery } from '../../domain/webhooks/recovery.ts'
import { keys } from '../keys.ts'
import {
  conditionMet,
  expiresAt,
  type Item,
  read,
  table,
  tableName,
  withoutKeys,
} from '../table.ts'
import { dueAttributes } from '../work-index.ts'

const KEPT_SECONDS = 90 * DAY_SECONDS

type RecoveryItem = Recovery & Record<'work' | 'due' | 'expiresAt', unknown>

export const fromRecoveryItem = (item: Item): Recovery => {
  const { work, due, expiresAt, ...recovery } = withoutKeys<RecoveryItem>(item)
  return {
    ...recovery,
    since: new Date(recovery.since),
    until: new Date(recovery.until),
    runAt: new Date(recovery.runAt),
  }
}

const toRecoveryItem = (recovery: Recovery) => ({
  ...keys.recovery(recovery.provider, recovery.id),
  entity: 'recovery',
  ...recovery,
  ...(recovery.status === 'running' && dueAttributes(recovery.id, recovery.runAt)),
  since: recovery.since.toISOString(),
  until: recovery.until.toISOString(),
  runAt: recovery.runAt.toISOString(),
  expiresAt: expiresAt(recovery.until, KEPT_SECONDS),
})

export const findRecovery = async (
  provider: ProviderId,
  id: string,
): Promise<Recovery | undefined> => {
  const item = await read<Item>(keys.recovery(provider, id))
  return item && fromRecoveryItem(item)
}

const write = (recovery: Recovery, condition: object): Promise<boolean> =>
  conditionMet(
    table.send(
      new PutCommand({ TableName: tableName(), Item: toRecoveryItem(recovery), ...condition }),
    ),
  )

/**
 * Starts a recovery. A recovery of this id that is done starts again: the worker that ended it may have
 * crashed, and more events may be undelivered since.
 * @returns false when a recovery of this id is running
 */
export const openRecovery = (recovery: Recovery): Promise<boolean> =>
  write(recovery, {
    ConditionExpression: 'attribute_not_exists(pk) OR #status = :done',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':done': 'done' },
  })

/** Records a page of a recovery. Returns false when another worker recorded it. */
export const putPage = (recovery: Recovery): Promise<boolean> =>
  write(recovery, {
    ConditionExpression: 'page = :previous',
    ExpressionAttributeValues: { ':previous': recovery.page - 1 },
  })
