import type { Item } from './change.ts'
import { invalid } from './errors.ts'
import type { Key } from './keys.ts'
import type { Source, Update } from './parse-update.ts'
import { attributeOf, type Bindings, nameOf } from './placeholders.ts'
import { isList, type Value } from './values.ts'

/** Returns the updated item, frozen; every source is computed from the item before the update. */
export const applyUpdate = (
  item: Item | Key,
  { set, add, remove }: Update,
  bindings: Bindings,
): Item => {
  const updated: Record<string, unknown> & Key = { ...item }
  for (const { to, source } of set) {
    updated[nameOf(to, bindings)] = sourceOf(source, item, bindings)
  }
  for (const { to, by } of add) {
    const value = required(bindings.values[by.name])
    updated[nameOf(to, bindings)] = sum(attributeOf(item, to, bindings) ?? 0, value)
  }
  for (const attribute of remove) delete updated[nameOf(attribute, bindings)]
  return Object.freeze(updated)
}

const sourceOf = (source: Source, item: Item | Key, bindings: Bindings): Value => {
  switch (source.kind) {
    case 'attribute':
      return required(attributeOf(item, source, bindings))
    case 'value':
      return required(bindings.values[source.name])
    case 'default': {
      // A null attribute exists.
      const value = attributeOf(item, source.of, bindings)
      return value === undefined ? sourceOf(source.source, item, bindings) : value
    }
    case 'appended': {
      const left = sourceOf(source.left, item, bindings)
      const right = sourceOf(source.right, item, bindings)
      if (!isList(left) || !isList(right)) throw wrongType()
      return Object.freeze([...left, ...right])
    }
    case 'sum':
      return sum(sourceOf(source.left, item, bindings), sourceOf(source.right, item, bindings))
  }
}

const required = (value: Value | undefined): Value => {
  if (value !== undefined) return value
  throw invalid('The provided expression refers to an attribute that does not exist in the item')
}

const wrongType = (): Error =>
  invalid('An operand in the update expression has an incorrect data type')

const sum = (left: Value, right: Value): number => {
  if (typeof left !== 'number' || typeof right !== 'number') throw wrongType()
  const result = left + right
  if (!Number.isSafeInteger(result)) throw new Error(`${result} is not a safe integer`)
  return result
}
