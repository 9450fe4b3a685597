import type { Item } from './change.ts'
import { invalid } from './errors.ts'
import { isList, type Value } from './values.ts'

/** The size of items, in bytes, as DynamoDB counts it. */

const CONTAINER_BYTES = 3
const ITEM_BYTES_MAX = 400 * 1024

/** Most items have short attributes only, and are not weighed, to save time. */
const isLong = (value: Value | undefined): boolean =>
  typeof value === 'string' ? value.length > 10_000 : isList(value) && value.length > 20

/** @throws ValidationException for an item that DynamoDB would refuse */
export const checkItemSize = (item: Item): void => {
  const members = item as Record<string, Value>
  if (Object.values(members).some(isLong) && sizeOf(members) > ITEM_BYTES_MAX) {
    throw invalid('Item size has exceeded the maximum allowed size')
  }
}

export const sizeOf = (item: { readonly [name: string]: Value }): number => {
  let size = 0
  for (const name in item) size += textSize(name) + valueSize(item[name] as Value)
  return size
}

const valueSize = (value: Value): number => {
  if (typeof value === 'string') return textSize(value)
  if (typeof value === 'number') return numberSize(value)
  if (value === null || typeof value === 'boolean') return 1
  if (isList(value)) {
    return value.reduce<number>((sum, one) => sum + 1 + valueSize(one), CONTAINER_BYTES)
  }
  return CONTAINER_BYTES + Object.keys(value).length + sizeOf(value as Record<string, Value>)
}

const textSize = (text: string): number => Buffer.byteLength(text)

/** Two decimal digits take one byte, counted from the point in both directions, plus one byte. */
const numberSize = (value: number): number => {
  if (value === 0) return 1
  const [whole = '', fraction = ''] = String(Math.abs(value)).split('.')
  const pairs = whole.padStart(whole.length + (whole.length % 2), '0') + fraction
  const digits = pairs.padEnd(pairs.length + (pairs.length % 2), '0')
  const significant = digits.replace(/^(00)+/, '').replace(/(00)+$/, '')
  return significant.length / 2 + 1 + (value < 0 ? 1 : 0)
}
