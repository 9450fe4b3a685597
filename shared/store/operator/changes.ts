import { type Change, changedFields, type Fields } from '../../domain/operator/change.ts'
import { keys } from '../keys.ts'
import {
  put,
  queryAll,
  queryPages,
  readMany,
  tableName,
  type Write,
  withoutKeys,
} from '../table.ts'

/** The record of what operators change. It has no expiry. */

/** Who changes what: from the call, and from the verb's options. A call that makes several changes gives each an id. */
export type Recording = Omit<Change, 'changed'> & { id: string }

const itemOf = ({ id, at, ...change }: Recording & Pick<Change, 'changed'>) => {
  const time = `${at.toISOString()}#${id}`
  const owner = keys.changesOf(change)
  return {
    ...keys.change(time),
    entity: 'change',
    ...change,
    at: at.toISOString(),
    ...(owner ? { byStatus: owner, byTime: time } : {}),
  }
}

/**
 * Returns the write that records a change; it goes into the transaction that makes the change.
 * Nothing when no field differs.
 */
export const changeWrites = (
  recording: Recording,
  before: Fields | undefined,
  after: Fields | undefined,
): Write[] => {
  const changed = changedFields(before, after)
  if (Object.keys(changed).length === 0) return []
  const Item = itemOf({ ...recording, changed })
  return [{ Put: { TableName: tableName(), Item } }]
}

/** Records work that an operator starts, before it starts. */
export const putChange = async (recording: Recording, options: Fields): Promise<void> => {
  const changed = changedFields(undefined, options)
  const { pk, sk, entity, ...members } = itemOf({ ...recording, changed })
  await put({ pk, sk }, entity, members)
}

const fromItem = (item: Record<string, unknown>): Change => {
  const { byStatus, byTime, at, ...change } = withoutKeys<
    Omit<Change, 'at'> & Record<'byStatus' | 'byTime' | 'at', string>
  >(item)
  return { ...change, at: new Date(at) }
}

/** The changes of a span of time, oldest first, strongly consistent. */
export async function* changesWithin({
  from,
  before,
}: {
  from: Date
  before: Date
}): AsyncGenerator<Change> {
  const pages = queryPages({
    KeyConditionExpression: 'pk = :changes AND sk BETWEEN :from AND :before',
    ExpressionAttributeValues: {
      ':changes': keys.changes,
      ':from': from.toISOString(),
      ':before': before.toISOString(),
    },
    ConsistentRead: true,
  })
  for await (const page of pages) yield* page.map(fromItem)
}

/** The newest changes, newest first: of all, or of one provider or bank. */
export const listChanges = async (
  owner: Pick<Change, 'provider' | 'bank'>,
  limit: number,
): Promise<Change[]> => {
  const list = keys.changesOf(owner)
  const newest = { ScanIndexForward: false, Limit: limit }
  const items = list
    ? await readMany(
        (
          await queryAll({
            IndexName: 'by-status',
            KeyConditionExpression: 'byStatus = :list',
            ExpressionAttributeValues: { ':list': list },
            ...newest,
          })
        ).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })),
      )
    : await queryAll({
        KeyConditionExpression: 'pk = :changes',
        ExpressionAttributeValues: { ':changes': keys.changes },
        ConsistentRead: true,
        ...newest,
      })
  return items.map(fromItem).sort((one, other) => other.at.getTime() - one.at.getTime())
}
