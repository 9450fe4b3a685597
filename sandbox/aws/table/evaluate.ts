import type { Item } from './change.ts'
import type { Comparator, Condition, Operand } from './parse-condition.ts'
import { attributeOf, type Bindings } from './placeholders.ts'
import { compare, isList, isMap, isSame, type Value } from './values.ts'

type Attributes = Readonly<Record<string, unknown>> | Item | undefined

/** Returns whether an item meets a condition; undefined means no item. */
export const evaluate = (condition: Condition, item: Attributes, bindings: Bindings): boolean => {
  const value = (operand: Operand): Value | undefined => operandOf(operand, item, bindings)
  switch (condition.kind) {
    case 'and':
      return evaluate(condition.left, item, bindings) && evaluate(condition.right, item, bindings)
    case 'or':
      return evaluate(condition.left, item, bindings) || evaluate(condition.right, item, bindings)
    case 'exists':
      return value(condition.of) !== undefined
    case 'not exists':
      return value(condition.of) === undefined
    case 'compare':
      return compares(condition.comparator, value(condition.left), value(condition.right))
    case 'between': {
      const compared = value(condition.of)
      return (
        compares('>=', compared, value(condition.low)) &&
        compares('<=', compared, value(condition.high))
      )
    }
    case 'begins with': {
      const [text, prefix] = [value(condition.of), value(condition.prefix)]
      return typeof text === 'string' && typeof prefix === 'string' && text.startsWith(prefix)
    }
  }
}

const operandOf = (operand: Operand, item: Attributes, bindings: Bindings): Value | undefined => {
  switch (operand.kind) {
    case 'attribute':
      return attributeOf(item, operand, bindings)
    case 'value':
      return bindings.values[operand.name]
    case 'size':
      return sizeOf(attributeOf(item, operand.of, bindings))
  }
}

const sizeOf = (value: Value | undefined): number | undefined => {
  if (typeof value === 'string' || isList(value)) return value.length
  return isMap(value) ? Object.keys(value).length : undefined
}

const compares = (
  comparator: Comparator,
  left: Value | undefined,
  right: Value | undefined,
): boolean => {
  if (left === undefined || right === undefined) return false
  if (comparator === '=') return isSame(left, right)
  const order = compare(left, right)
  if (order === undefined) return false
  if (order === 0) return comparator.endsWith('=')
  return comparator.startsWith(order < 0 ? '<' : '>')
}
