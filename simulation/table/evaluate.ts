import type { Comparator, Condition, Operand } from './parse-condition.ts'
import { type Bindings, valueAt } from './paths.ts'
import { compare, isList, isMap, isSame, typeOf, type Value } from './values.ts'

/** Whether a condition evaluate of an item; undefined: there is no such item. */
export const evaluate = (
  condition: Condition,
  item: Value | undefined,
  bindings: Bindings,
): boolean => {
  switch (condition.kind) {
    case 'and':
      return evaluate(condition.left, item, bindings) && evaluate(condition.right, item, bindings)
    case 'or':
      return evaluate(condition.left, item, bindings) || evaluate(condition.right, item, bindings)
    case 'not':
      return !evaluate(condition.of, item, bindings)
    case 'exists':
      return valueAt(item, condition.path, bindings) !== undefined
    case 'not exists':
      return valueAt(item, condition.path, bindings) === undefined
    case 'compare':
      return compares(
        condition.comparator,
        operandOf(condition.left, item, bindings),
        operandOf(condition.right, item, bindings),
      )
    case 'between': {
      const value = operandOf(condition.of, item, bindings)
      return (
        compares('>=', value, operandOf(condition.low, item, bindings)) &&
        compares('<=', value, operandOf(condition.high, item, bindings))
      )
    }
    case 'in': {
      const value = operandOf(condition.of, item, bindings)
      return condition.among.some((one) => compares('=', value, operandOf(one, item, bindings)))
    }
    case 'type':
      return (
        typeNamed(operandOf(condition.of, item, bindings)) ===
        operandOf(condition.operand, item, bindings)
      )
    case 'begins with':
      return beginsWith(
        operandOf(condition.of, item, bindings),
        operandOf(condition.operand, item, bindings),
      )
    case 'contains':
      return contains(
        operandOf(condition.of, item, bindings),
        operandOf(condition.operand, item, bindings),
      )
  }
}

const operandOf = (
  operand: Operand,
  item: Value | undefined,
  bindings: Bindings,
): Value | undefined => {
  switch (operand.kind) {
    case 'path':
      return valueAt(item, operand, bindings)
    case 'value':
      return bindings.values[operand.name]
    case 'size':
      return sizeOf(operandOf(operand.of, item, bindings))
  }
}

const sizeOf = (value: Value | undefined): number | undefined => {
  if (typeof value === 'string' || isList(value)) return value.length
  return isMap(value) ? Object.keys(value).length : undefined
}

const compares = (
  comparator: Comparator,
  one: Value | undefined,
  other: Value | undefined,
): boolean => {
  // What is not there is different from everything, also from what else is not there.
  if (one === undefined || other === undefined) return comparator === '<>'
  const order = compare(one, other)
  switch (comparator) {
    case '=':
      return isSame(one, other)
    case '<>':
      return !isSame(one, other)
    case '<':
      return order !== undefined && order < 0
    case '<=':
      return order !== undefined && order <= 0
    case '>':
      return order !== undefined && order > 0
    case '>=':
      return order !== undefined && order >= 0
  }
}

const typeNamed = (value: Value | undefined): string | undefined =>
  value === undefined ? undefined : typeOf(value)

const beginsWith = (value: Value | undefined, prefix: Value | undefined): boolean =>
  typeof value === 'string' && typeof prefix === 'string' && value.startsWith(prefix)

const contains = (value: Value | undefined, part: Value | undefined): boolean => {
  if (part === undefined) return false
  if (isList(value)) return value.some((one) => isSame(one, part))
  return typeof value === 'string' && typeof part === 'string' && value.includes(part)
}
