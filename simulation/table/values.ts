/**
 * Values of attributes as the document client takes and gives them. The service keeps no sets and
 * no binaries, so there are none current.
 */

export type Value =
  | string
  | number
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value }

/** The names that `attribute_type` knows them by. */
export type Type = 'S' | 'N' | 'BOOL' | 'NULL' | 'L' | 'M'

export const typeOf = (value: Value): Type => {
  switch (typeof value) {
    case 'string':
      return 'S'
    case 'number':
      return 'N'
    case 'boolean':
      return 'BOOL'
    default:
      if (value === null) return 'NULL'
      return isList(value) ? 'L' : 'M'
  }
}

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

export const isMap = (value: Value | undefined): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A copy that nobody can change, without members that are undefined: what may be storage, and may be
 * handed out as it is.
 * @throws Error for what the document client would not marshall either
 */
export const storable = (value: unknown): Value => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return keepableNumber(value)
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? keepableList(value) : keepableMap(value)
    default:
      throw new Error(`The table takes no ${typeof value}`)
  }
}

const keepableNumber = (value: number): number => {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new Error(`The table takes no number ${value}`)
  }
  // There is no negative zero in a decimal.
  return value === 0 ? 0 : value
}

const keepableList = (value: readonly unknown[]): readonly Value[] =>
  Object.freeze(value.filter((one) => one !== undefined).map(storable))

const keepableMap = (value: object): { readonly [name: string]: Value } => {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Error(`The table takes no ${value.constructor.name}`)
  }
  // To copy the whole and mend what needs it is several times faster than name by name.
  const copy = { ...value } as Record<string, Value>
  for (const name in copy) {
    const one = copy[name]
    if (one === undefined) return keepableMap(withoutUndefined(copy))
    if (typeof one === 'string') continue
    const storage = storable(one)
    // To write what is there already costs more than to ask.
    if (!Object.is(storage, one)) copy[name] = storage
  }
  return Object.freeze(copy)
}

const withoutUndefined = (map: Record<string, unknown>): object => {
  const copy: Record<string, unknown> = {}
  for (const name in map) if (map[name] !== undefined) copy[name] = map[name]
  return copy
}

/** Whether two values are the same to DynamoDB, however deep. */
export const isSame = (one: Value | undefined, other: Value | undefined): boolean => {
  if (one === other) return true
  if (isList(one)) {
    return (
      isList(other) && one.length === other.length && one.every((each, n) => isSame(each, other[n]))
    )
  }
  return isMap(one) && isMap(other) && isSameMap(one, other)
}

const isSameMap = (one: Record<string, Value>, other: Record<string, Value>): boolean => {
  let count = 0
  for (const name in one) {
    if (!isSame(one[name], other[name])) return false
    count += 1
  }
  for (const _ in other) count -= 1
  return count === 0
}

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000

/** Orders text by its bytes in UTF-8, as DynamoDB does; code units are in another order. */
export const compareText = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length)
  for (let n = 0; n < length; n += 1) {
    const a = one.charCodeAt(n)
    const b = other.charCodeAt(n)
    if (a !== b) return a >= SURROGATES && b >= SURROGATES ? compareHigh(a, b) : a - b
  }
  return one.length - other.length
}

/** What takes two code units is beyond all that takes one. */
const compareHigh = (a: number, b: number): number => {
  const isOneUnit = (unit: number): boolean => unit >= AFTER_SURROGATES
  return isOneUnit(a) === isOneUnit(b) ? a - b : isOneUnit(a) ? -1 : 1
}

/** Orders two values of one type; undefined: they have no order. */
export const compare = (one: Value, other: Value): number | undefined => {
  if (typeof one === 'string' && typeof other === 'string') return compareText(one, other)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return undefined
}
