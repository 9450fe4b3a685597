import { isList, type Value } from './values.ts'

/** The size of items, in bytes, as DynamoDB counts it. */

const CONTAINER_BYTES = 3

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
