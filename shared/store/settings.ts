import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { Refusal } from '../domain/refusal.ts'
import { real } from '../runtime.ts'
import type { Key } from './keys.ts'
import { conditionMet, read, table, tableName, type Write, withoutKeys } from './table.ts'
import { transact, transactionMet, withConflictRetries } from './transactions.ts'

/**
 * Settings that operators change: items that are replaced whole, if they still stand as they were
 * read. So nothing that one operator wrote (a suspension, a secret) is undone by another who saw
 * what stood before. Their revision is drawn anew with each write: they may be removed and made
 * again, and a count would then name two of them alike.
 */

type Item = Record<string, unknown>

/** How settings are written down, and read. */
type Form<T> = {
  entity: string
  from: (item: Item) => T | Promise<T>
  to: (settings: T) => object | Promise<object>
}

/** What an item says as settings, without where it is kept. */
export const settingsIn = <T>(item: Item): T => {
  const { revision, ...settings } = withoutKeys<Item>(item)
  return settings as T
}

// Each lost race is another operator's success, and they are few.
const RACES_MAX = 50

/**
 * Writes what `change` makes of the settings as they stand. Of two operators at once the second one
 * changes what the first one wrote; a write whose answer was lost is found to be done, unless
 * another has changed it since.
 * @param change given undefined where there are none yet. What it makes is written, unless it is a
 *   refusal, undefined, or the very same object; it is called again after each lost race
 * @param alongside writes of other items in the same transaction, such as the record of the change
 * @returns what it made
 */
export const changeSettings = async <T extends object, C extends T | Refusal | undefined>(
  key: Key,
  { entity, from, to }: Form<T>,
  change: (before: T | undefined) => C | Promise<C>,
  alongside: (before: T | undefined, after: T) => readonly Write[] = () => [],
): Promise<C> => {
  let ours: { revision: string; after: C } | undefined
  for (let races = 0; races < RACES_MAX; races += 1) {
    const item = await read<Item>(key)
    if (ours && item?.revision === ours.revision) return ours.after
    const before = item && (await from(item))
    const after = await change(before)
    if (after === undefined || after === before || after instanceof Refusal) return after
    ours = { revision: real.newId(), after }
    const Item = { ...key, entity, ...(await to(after as T)), revision: ours.revision }
    const put = { TableName: tableName(), Item, ...asRead(item) }
    const others = alongside(before, after as T)
    if (await withConflictRetries(real, () => putWith(put, others))) return after
  }
  throw new Error(`${key.pk} ${key.sk} was changed by others ${RACES_MAX} times`)
}

/**
 * Removes settings, with writes of other items in the same transaction.
 * @returns false when there were none
 */
export const removeSettings = async <T extends object>(
  key: Key,
  from: Form<T>['from'],
  alongside: (before: T) => readonly Write[],
): Promise<boolean> => {
  for (let races = 0; races < RACES_MAX; races += 1) {
    const item = await read<Item>(key)
    // A second read that finds nothing follows our own removal, or that of another operator.
    if (!item) return races > 0
    const removal = { Delete: { TableName: tableName(), Key: key, ...asRead(item) } }
    const TransactItems = [removal, ...alongside(await from(item))]
    if (await transact(TransactItems, real)) return true
  }
  throw new Error(`${key.pk} ${key.sk} was changed by others ${RACES_MAX} times`)
}

const asRead = (before: Item | undefined) => {
  if (!before) return { ConditionExpression: 'attribute_not_exists(pk)' }
  // Written before there were revisions.
  if (before.revision === undefined) {
    return { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revision)' }
  }
  return {
    ConditionExpression: 'revision = :before',
    ExpressionAttributeValues: { ':before': before.revision },
  }
}

/**
 * Writes an item, with writes of other items in one transaction where there are any.
 * @returns false when a condition did not hold
 */
export const putWith = (
  put: NonNullable<Write['Put']>,
  others: readonly Write[],
): Promise<boolean> => {
  if (others.length === 0) return conditionMet(table.send(new PutCommand(put)))
  const TransactItems = [{ Put: put }, ...others]
  return transactionMet(table.send(new TransactWriteCommand({ TransactItems })))
}
