import type { Item } from './change.ts'
import { invalid } from './errors.ts'
import type { KeyNames } from './key-conditions.ts'

/** The definition of the table; every key is text (infra/definitions/table.ts). */
export type TableDefinition = {
  partitionKey: 'pk'
  sortKey: 'sk'
  timeToLive: string
  indexes: readonly IndexDefinition[]
}

export type IndexDefinition = KeyNames & {
  name: string
  /** The attributes of an entry besides the keys. */
  projected: readonly string[]
}

export type Key = { pk: string; sk: string }

/** Units of one partition key of the table, or of an index. */
export type KeyUnits = { index?: string; key: string; units: number }

/** @throws ValidationException if the value has other members than a key of the table */
export const parseKey = (value: unknown): Key => {
  const key = value as Key | undefined
  let count = 0
  for (const _ in key) count += 1
  if (!key || count !== 2) throw invalid('The provided key element does not match the schema')
  return keyOf(key)
}

const PARTITION_KEY_BYTES = 2048
const SORT_KEY_BYTES = 1024

/** @throws ValidationException if an item has no valid key */
export const keyOf = (item: unknown): Key => {
  const { pk, sk } = (item ?? {}) as Key
  checkText(pk, PARTITION_KEY_BYTES)
  checkText(sk, SORT_KEY_BYTES)
  return { pk, sk }
}

/** The most UTF-8 bytes that one UTF-16 code unit takes. */
const UNIT_BYTES = 3

const checkText = (text: unknown, bytesMax: number): void => {
  if (typeof text !== 'string' || text === '') {
    throw invalid('One or more parameter values were invalid: a key must be a non-empty string')
  }
  if (text.length * UNIT_BYTES > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw invalid(`The key has exceeded the maximum size limit of ${bytesMax} bytes`)
  }
}

/** @throws ValidationException if an item has an index key of another type */
export const checkIndexKeys = (item: Item, { indexes }: TableDefinition): void => {
  for (const { partitionKey, sortKey } of indexes) {
    const partition = item[partitionKey]
    const sort = item[sortKey]
    if (partition !== undefined) checkText(partition, PARTITION_KEY_BYTES)
    if (sort !== undefined) checkText(sort, SORT_KEY_BYTES)
  }
}
