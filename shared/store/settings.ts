import { Refusal } from '../domain/refusal.ts'
import type { Jitter, Runtime } from '../runtime.ts'
import type { Key } from './keys.ts'
import { optimistically } from './optimistic.ts'
import * as db from './table.ts'
import { transact } from './transactions.ts'

/**
 * Operator settings, replaced as a whole with optimistic locking: no operator undoes a change that
 * another made since the read. Each write draws a random revision. A counter would repeat its values
 * when settings are removed and created again.
 */

/** The stored form of settings. */
type Form<T> = {
  entity: string
  from: (item: db.Item) => T | Promise<T>
  to: (settings: T) => object | Promise<object>
}

/** Returns the settings of an item, without its keys and its revision. */
export const settingsIn = <T>(item: db.Item): T => {
  const { revision, ...settings } = db.withoutKeys<db.Item>(item)
  return settings as T
}

/** For a change that needs no other write in its transaction. */
export const noWrites = (): readonly db.Write[] => []

/**
 * Writes the result of `change` with optimistic locking. A write whose response was lost is detected
 * by its revision.
 * @param change gets undefined where no settings exist, and runs again after each lost race.
 *   A refusal, undefined and the unchanged object are returned without a write
 * @param alongside writes in the same transaction, such as the record of the change
 */
export const changeSettings = async <T extends object, C extends T | Refusal | undefined>(
  key: Key,
  { entity, from, to }: Form<T>,
  change: (previous: T | undefined) => C | Promise<C>,
  alongside: (previous: T | undefined, next: T) => readonly db.Write[],
  runtime: Pick<Runtime, 'newId' | 'random' | 'pause'>,
): Promise<C> => {
  let last: { revision: string; next: C } | undefined
  const { result } = await optimistically(`${key.pk} ${key.sk}`, async () => {
    const item = await db.read<db.Item>(key)
    if (last && item?.revision === last.revision) return { result: last.next }
    const previous = item && (await from(item))
    const next = await change(previous)
    if (next === undefined || next === previous || next instanceof Refusal) return { result: next }
    last = { revision: runtime.newId(), next }
    const Item = { ...key, entity, ...(await to(next as T)), revision: last.revision }
    const put = { TableName: db.tableName(), Item, ...unchanged(item) }
    const others = alongside(previous, next as T)
    return (await putWith(put, others, runtime)) ? { result: next } : undefined
  })
  return result
}

/** Removes settings. @returns false when there were none */
export const removeSettings = <T extends object>(
  key: Key,
  from: Form<T>['from'],
  alongside: (previous: T) => readonly db.Write[],
  runtime: Jitter,
): Promise<boolean> =>
  optimistically(`${key.pk} ${key.sk}`, async (race) => {
    const item = await db.read<db.Item>(key)
    // After a lost race, our own removal or that of another operator succeeded.
    if (!item) return race > 1
    const removal = { Delete: { TableName: db.tableName(), Key: key, ...unchanged(item) } }
    const TransactItems = [removal, ...alongside(await from(item))]
    return (await transact(TransactItems, runtime)) || undefined
  })

/** Returns the condition that an item is as it was read. */
export const unchanged = (item: db.Item | undefined) => {
  if (!item) return { ConditionExpression: 'attribute_not_exists(pk)' }
  // Items from before revisions existed.
  if (item.revision === undefined) {
    return { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revision)' }
  }
  return {
    ConditionExpression: 'revision = :revision',
    ExpressionAttributeValues: { ':revision': item.revision },
  }
}

/** Writes an item and others, all or none. @returns false when a condition was not met */
export const putWith = (
  { Item, ...condition }: ReturnType<typeof db.putWrite>['Put'],
  others: readonly db.Write[],
  runtime: Jitter,
): Promise<boolean> =>
  others.length === 0
    ? db.putIf(Item, condition)
    : transact([{ Put: { Item, ...condition } }, ...others], runtime)
