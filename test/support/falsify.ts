/** Changes one field of an item: any leaf, or a list that loses its first entry. */

// biome-ignore lint/suspicious/noExplicitAny: fields of every kind of item
type Any = any

export type Field = {
  /** Its place: names of members, and indexes of list entries. */
  place: readonly (string | number)[]
  /** Its place without indexes. */
  path: string
  value: Any
}

const pathOf = (place: Field['place']): string =>
  place.filter((part) => typeof part === 'string').join('.')

export function* fieldsIn(value: Any, place: Field['place'] = []): Generator<Field> {
  const isList = Array.isArray(value)
  if (typeof value === 'object' && value !== null) {
    const members = isList ? [...value.entries()] : Object.entries(value)
    for (const [name, member] of members) yield* fieldsIn(member, [...place, name])
    if (!isList || value.length === 0) return
  }
  yield { place, path: pathOf(place), value }
}

const DAY_MS = 86_400_000
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Returns wrong values of the same type. A time moves by a day, in both directions. */
export const wrongValues = (value: Any): Any[] => {
  if (Array.isArray(value)) return [value.slice(1)]
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') {
    return value > 1e12 ? [value - DAY_MS, value + DAY_MS] : [value + 1, -value - 1]
  }
  if (typeof value !== 'string') return ['x']
  if (!TIME.test(value)) return [`${value}x`, null]
  return [-1, 1].map((days) => new Date(Date.parse(value) + days * DAY_MS).toISOString())
}

/** Returns a copy with another value at a place. */
export const replaced = (item: Any, [name, ...rest]: Field['place'], value: Any): Any => {
  if (name === undefined) return value
  const copy = Array.isArray(item) ? [...item] : { ...item }
  copy[name] = replaced(item[name], rest, value)
  return copy
}
