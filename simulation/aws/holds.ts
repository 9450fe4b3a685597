import type { Comparator, Condition, Operand } from './conditions.ts'
import { attributeIn, type Bindings, valueAt } from './paths.ts'
import { invalid } from './refusals.ts'
import { compare, isList, isMap, isSame, typeOf, type Value } from './values.ts'

/** Whether a condition holds of an item; undefined: there is no such item. */
export const holds = (
  condition: Condition,
  item: Value | undefined,
  bindings: Bindings,
): boolean => {
  switch (condition.kind) {
    case 'and':
      return holds(condition.left, item, bindings) && holds(condition.right, item, bindings)
    case 'or':
      return holds(condition.left, item, bindings) || holds(condition.right, item, bindings)
    case 'not':
      return !holds(condition.of, item, bindings)
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
  if (comparator === '<>') return !isSame(one, other)
  if (one === undefined || other === undefined) return false
  const order = compare(one, other)
  switch (comparator) {
    case '=':
      return isSame(one, other)
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

const TYPES: ReadonlySet<unknown> = new Set([
  ...['S', 'N', 'B', 'SS', 'NS', 'BS', 'BOOL', 'NULL', 'L', 'M'],
])

/** Refuses what can be seen to make no sense whatever the item is. */
export const refuseSenseless = (condition: Condition, bindings: Bindings): void => {
  switch (condition.kind) {
    case 'and':
    case 'or':
      refuseSenseless(condition.left, bindings)
      return refuseSenseless(condition.right, bindings)
    case 'not':
      return refuseSenseless(condition.of, bindings)
    case 'compare':
      if (condition.comparator === '=' || condition.comparator === '<>') return
      refuseUnordered(condition.left, bindings)
      return refuseUnordered(condition.right, bindings)
    case 'between':
      return refuseBounds(condition, bindings)
    case 'type':
      if (TYPES.has(given(condition.operand, bindings))) return
      throw invalid('Invalid attribute type name found')
    case 'begins with':
      return refuseOtherThanText(condition, bindings)
    default:
      return
  }
}

/** What an operand is whatever the item is. */
const given = (operand: Operand, { values }: Bindings): Value | undefined =>
  operand.kind === 'value' ? values[operand.name] : undefined

const refuseUnordered = (operand: Operand, bindings: Bindings): void => {
  const value = given(operand, bindings)
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return
  throw invalid(`Incorrect operand type for operator or function; operand type: ${typeOf(value)}`)
}

const refuseBounds = (
  { of, low, high }: Extract<Condition, { kind: 'between' }>,
  bindings: Bindings,
): void => {
  for (const operand of [of, low, high]) refuseUnordered(operand, bindings)
  const from = given(low, bindings)
  const to = given(high, bindings)
  if (from === undefined || to === undefined) return
  const order = compare(from, to)
  if (order === undefined || order > 0) {
    throw invalid('The BETWEEN operator requires upper bound to be at least the lower bound')
  }
}

const refuseOtherThanText = (
  { of, operand }: Extract<Condition, { kind: 'begins with' }>,
  bindings: Bindings,
): void => {
  for (const one of [of, operand]) {
    const value = given(one, bindings)
    if (value !== undefined && typeof value !== 'string') {
      throw invalid('Incorrect operand type for operator or function: begins_with')
    }
  }
}

/** Refuses a filter that asks for what the key condition is for. */
export const refuseKeys = (
  condition: Condition,
  keys: readonly string[],
  bindings: Bindings,
): void => {
  for (const operand of operandsOf(condition)) {
    const path = operand.kind === 'size' ? operand.of : operand
    if (path.kind === 'path' && keys.includes(attributeIn(path, bindings))) {
      throw invalid('Filter Expression can only contain non-primary key attributes')
    }
  }
}

const operandsOf = (condition: Condition): Operand[] => {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return [...operandsOf(condition.left), ...operandsOf(condition.right)]
    case 'not':
      return operandsOf(condition.of)
    case 'exists':
    case 'not exists':
      return [condition.path]
    case 'compare':
      return [condition.left, condition.right]
    case 'between':
      return [condition.of, condition.low, condition.high]
    case 'in':
      return [condition.of, ...condition.among]
    case 'type':
    case 'begins with':
    case 'contains':
      return [condition.of, condition.operand]
  }
}
