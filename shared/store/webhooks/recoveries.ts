import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { Recovery } from '../../domain/webhooks/recovery.ts'
import { keys } from '../keys.ts'
import { conditionMet, expiresAt, read, table, tableName, withoutKeys } from '../table.ts'
import { dueAttributes } from '../work-index.ts'

const KEPT_SECONDS = 90 * DAY_SECONDS

export const fromRecoveryItem = (item: Record<string, unknown>): Recovery => {
  const { work, due, expiresAt, ...recovery } = withoutKeys<
    Recovery & Record<'work' | 'due' | 'expiresAt', unknown>
  >(item)
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
  ...(recovery.status === 'running' ? dueAttributes(recovery.id, recovery.runAt) : {}),
  since: recovery.since.toISOString(),
  until: recovery.until.toISOString(),
  runAt: recovery.runAt.toISOString(),
  expiresAt: expiresAt(recovery.until, KEPT_SECONDS),
})

export const findRecovery = async (
  provider: ProviderId,
  id: string,
): Promise<Recovery | undefined> => {
  const item = await read<Record<string, unknown>>(keys.recovery(provider, id))
  return item && fromRecoveryItem(item)
}

const write = (recovery: Recovery, condition: object): Promise<boolean> =>
  conditionMet(
    table.send(
      new PutCommand({ TableName: tableName(), Item: toRecoveryItem(recovery), ...condition }),
    ),
  )

/**
 * One that is done is opened anew: whoever was to say so was lost, and more may be owed since.
 * @returns false when one of this id is running
 */
export const openRecovery = (recovery: Recovery): Promise<boolean> =>
  write(recovery, {
    ConditionExpression: 'attribute_not_exists(pk) OR #status = :done',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':done': 'done' },
  })

/** @returns false when another worker did this page */
export const putPage = (recovery: Recovery): Promise<boolean> =>
  write(recovery, {
    ConditionExpression: 'page = :before',
    ExpressionAttributeValues: { ':before': recovery.page - 1 },
  })
