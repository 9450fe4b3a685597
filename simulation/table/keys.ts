import type { Item } from '../engine/observations.ts'
import { invalid } from './errors.ts'
import type { KeyNames } from './key-conditions.ts'

/** What the table is told to be; every key is text (infra/definitions/table.ts). */
export type TableDefinition = {
  partitionKey: 'pk'
  sortKey: 'sk'
  indexes: readonly IndexDefinition[]
}

export type IndexDefinition = KeyNames & {
  name: string
  /** What an entry evaluate next to the keys. */
  projected: readonly string[]
}

export type Key = { pk: string; sk: string }

/** @throws ValidationException when it is no key of this table */
export const keyIn = (given: unknown): Key => {
  const key = given as Key | undefined
  let count = 0
  for (const _ in key) count += 1
  if (!key || count !== 2) throw invalid('The provided key element does not match the schema')
  return readKey(key)
}

/** The key of a whole item. */
export const keyOf = (item: unknown): Key => {
  const { pk, sk } = (item ?? {}) as Partial<Key>
  if (pk === undefined || sk === undefined) {
    throw invalid('One or more parameter values were invalid: Missing a key in the item')
  }
  return readKey({ pk, sk })
}

const PARTITION_KEY_BYTES = 2048
const SORT_KEY_BYTES = 1024

const readKey = ({ pk, sk }: Key): Key => {
  refuseText(pk, PARTITION_KEY_BYTES)
  refuseText(sk, SORT_KEY_BYTES)
  return { pk, sk }
}

/** No character takes more bytes. */
const CHARACTER_BYTES = 3

const refuseText = (text: unknown, bytesMax: number): void => {
  if (typeof text !== 'string') {
    throw invalid('One or more parameter values were invalid: Type mismatch for key, expected: S')
  }
  if (text === '') {
    throw invalid('The AttributeValue for a key attribute cannot contain an empty string value')
  }
  if (text.length * CHARACTER_BYTES > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw invalid(`The key has exceeded the maximum size limit of ${bytesMax} bytes`)
  }
}

/** An item with a key of an index that is none cannot be in that index, so it is not written. */
export const refuseIndexKeys = (item: Item, { indexes }: TableDefinition): void => {
  for (const { partitionKey, sortKey } of indexes) {
    const partition = item[partitionKey]
    const sort = item[sortKey]
    if (partition !== undefined) refuseText(partition, PARTITION_KEY_BYTES)
    if (sort !== undefined) refuseText(sort, SORT_KEY_BYTES)
  }
}
