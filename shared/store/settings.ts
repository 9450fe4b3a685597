import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { Refusal } from '../domain/refusal.ts'
import { held, type Key, read, sha256, table, tableName, withoutKeys } from './table.ts'

/**
 * Settings that operators change: items that are replaced whole, if they still stand as they were
 * read. So nothing that one operator wrote (a suspension, a secret) is undone by another who saw
 * what stood before.
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
 * changes what the first one wrote; a write whose answer was lost is found to be done.
 * @param change given undefined where there are none yet. What it makes is written, unless it is a
 *   refusal, undefined, or the very same object; it is called again after each lost race
 * @returns what it made
 */
export const changeSettings = async <T extends object, C extends T | Refusal | undefined>(
  key: Key,
  { entity, from, to }: Form<T>,
  change: (before: T | undefined) => C | Promise<C>,
): Promise<C> => {
  let ours: { revision: string; after: C } | undefined
  for (let races = 0; races < RACES_MAX; races += 1) {
    const item = await read<Item>(key)
    if (ours && item?.revision === ours.revision) return ours.after
    const before = item && (await from(item))
    const after = await change(before)
    if (after === undefined || after === before || after instanceof Refusal) return after
    const members = { entity, ...(await to(after as T)) }
    ours = { revision: sha256(JSON.stringify(members)), after }
    if (await replace(item, { ...key, ...members, revision: ours.revision })) return after
  }
  throw new Error(`${key.pk} ${key.sk} was changed by others ${RACES_MAX} times`)
}

/** The revision is what an item says, hashed: it names what was read. */
const replace = (before: Item | undefined, Item: Item): Promise<boolean> =>
  held(table.send(new PutCommand({ TableName: tableName(), Item, ...asRead(before) })))

const asRead = (before: Item | undefined) =>
  before
    ? {
        ConditionExpression: 'revision = :before',
        ExpressionAttributeValues: { ':before': before.revision },
      }
    : { ConditionExpression: 'attribute_not_exists(pk)' }
