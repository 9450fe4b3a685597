/** Attribute values as the document client represents them, without sets and binaries. */

export type Value =
  | string
  | number
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value }

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

export const isMap = (value: Value | undefined): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns a frozen copy without undefined members.
 * @throws Error for a value that the document client would not marshall
 */
export const storable = (value: unknown): Value => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return storableNumber(value)
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? storableList(value) : storableMap(value)
    default:
      throw new Error(`The table accepts no ${typeof value}`)
  }
}

const storableNumber = (value: number): number => {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new Error(`The table accepts no number ${value}`)
  }
  // A decimal has no negative zero.
  return value === 0 ? 0 : value
}

const storableList = (value: readonly unknown[]): readonly Value[] =>
  Object.freeze(value.filter((member) => member !== undefined).map(storable))

const storableMap = (value: object): { readonly [name: string]: Value } => {
  // The document client asks the same, also of a member that is named `constructor`.
  const type = value.constructor ?? Object
  if (type !== Object) throw new Error(`The table accepts no ${type.name}`)
  // Copying the whole object first is several times faster than member by member.
  const copy = { ...value } as Record<string, Value>
  for (const name in copy) {
    const member = copy[name]
    if (member === undefined) return storableMap(withoutUndefined(copy))
    const stored = storable(member)
    if (!Object.is(stored, member)) copy[name] = stored
  }
  return Object.freeze(copy)
}

const withoutUndefined = (map: Record<string, unknown>): object => {
  const copy: Record<string, unknown> = {}
  for (const name in map) if (map[name] !== undefined) copy[name] = map[name]
  return copy
}

/** Reports deep equality. */
export const isSame = (left: Value | undefined, right: Value | undefined): boolean => {
  if (left === right) return true
  if (isList(left)) {
    return (
      isList(right) &&
      left.length === right.length &&
      left.every((member, index) => isSame(member, right[index]))
    )
  }
  return isMap(left) && isMap(right) && isSameMap(left, right)
}

const isSameMap = (left: Record<string, Value>, right: Record<string, Value>): boolean => {
  let count = 0
  for (const name in left) {
    if (!isSame(left[name], right[name])) return false
    count += 1
  }
  for (const _ in right) count -= 1
  return count === 0
}

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000

/** Compares text by its UTF-8 bytes, as DynamoDB does; UTF-16 code units sort differently. */
export const compareText = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return a >= SURROGATES && b >= SURROGATES ? compareHigh(a, b) : a - b
  }
  return left.length - right.length
}

/** A character of two code units sorts after every character of one. */
const compareHigh = (a: number, b: number): number => {
  const isOneUnit = (unit: number): boolean => unit >= AFTER_SURROGATES
  return isOneUnit(a) === isOneUnit(b) ? a - b : isOneUnit(a) ? -1 : 1
}

/** Compares two texts or two numbers; returns undefined for other types. */
export const compare = (left: Value, right: Value): number | undefined => {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return undefined
}
