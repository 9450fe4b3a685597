import { invalid } from './errors.ts'
import type { Condition, Operand } from './parse-condition.ts'
import type { Source, Update } from './parse-update.ts'
import { attributeIn, type Bindings, type Path, stepIn } from './paths.ts'
import { compare, isList, typeOf, type Value } from './values.ts'

const TYPES: ReadonlySet<unknown> = new Set([
  ...['S', 'N', 'B', 'SS', 'NS', 'BS', 'BOOL', 'NULL', 'L', 'M'],
])

/** Refuses what can be seen to make no sense whatever the item is. */
export const refuseSenseless = (condition: Condition, bindings: Bindings): void => {
  switch (condition.kind) {
    case 'and':
    case 'or':
      refuseSenseless(condition.left, bindings)
      refuseSenseless(condition.right, bindings)
      break
    case 'not':
      refuseSenseless(condition.of, bindings)
      break
    case 'compare':
      refuseSamePath(condition.left, condition.right, bindings)
      refuseUnsized(condition.left, bindings)
      refuseUnsized(condition.right, bindings)
      if (condition.comparator === '=' || condition.comparator === '<>') break
      refuseUnordered(condition.left, bindings)
      refuseUnordered(condition.right, bindings)
      break
    case 'in':
      for (const one of condition.among) refuseSamePath(condition.of, one, bindings)
      break
    case 'between':
      refuseSamePath(condition.of, condition.low, bindings)
      refuseSamePath(condition.of, condition.high, bindings)
      refuseBounds(condition, bindings)
      break
    case 'type':
      if (TYPES.has(given(condition.operand, bindings))) break
      throw invalid('Invalid attribute type name found')
    case 'begins with':
      refuseSamePath(condition.of, condition.operand, bindings)
      refuseOtherThanText(condition, bindings)
      break
    case 'contains':
      refuseSamePath(condition.of, condition.operand, bindings)
      break
    default:
      break
  }
}

/** Nothing is learned from what is held against itself. */
const refuseSamePath = (one: Operand, other: Operand, bindings: Bindings): void => {
  if (one.kind !== 'path' || other.kind !== 'path') return
  if (one.steps.length !== other.steps.length) return
  const isSamePath = one.steps.every(
    (step, n) => stepIn(step, bindings) === stepIn(other.steps[n] ?? '', bindings),
  )
  if (isSamePath) throw invalid('The first operand must be distinct from the remaining operands')
}

/** What an operand is whatever the item is. */
const given = (operand: Operand, { values }: Bindings): Value | undefined =>
  operand.kind === 'value' ? values[operand.name] : undefined

const refuseUnordered = (operand: Operand, bindings: Bindings): void => {
  const value = given(operand, bindings)
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return
  throw invalid(`Incorrect operand type for operator or function; operand type: ${typeOf(value)}`)
}

const refuseUnsized = (operand: Operand, bindings: Bindings): void => {
  const value = operand.kind === 'size' ? given(operand.of, bindings) : undefined
  if (value === undefined || typeof value === 'string') return
  if (typeof value === 'object' && value !== null) return
  throw invalid('Incorrect operand type for operator or function: size')
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

/** The same of an update. */
export const refuseOperands = ({ set, add }: Update, bindings: Bindings): void => {
  for (const { source } of set) refuseSource(source, bindings)
  for (const { by } of add) {
    if (typeof bindings.values[by.name] !== 'number') throw wrongOperand('ADD')
  }
}

const wrongOperand = (name: string): Error =>
  invalid(`Incorrect operand type for operator or function; operator or function: ${name}`)

const refuseSource = (source: Source, bindings: Bindings): void => {
  if (source.kind === 'path' || source.kind === 'value') return
  if (source.kind === 'otherwise') {
    refuseSource(source.source, bindings)
    return
  }
  for (const operand of [source.left, source.right]) {
    refuseSource(operand, bindings)
    if (operand.kind !== 'value') continue
    const value = bindings.values[operand.name]
    const isRight = source.kind === 'appended' ? isList(value) : typeof value === 'number'
    if (!isRight) throw wrongOperand(source.kind)
  }
}

/** Refuses a filter that asks for what the key condition is for. */
export const refuseKeys = (
  condition: Condition,
  keys: readonly string[],
  bindings: Bindings,
): void => {
  for (const path of pathsIn(condition)) {
    if (keys.includes(attributeIn(path, bindings))) {
      throw invalid('Filter Expression can only contain non-primary key attributes')
    }
  }
}

/** Every path in a condition. */
export const pathsIn = (condition: Condition): Path[] =>
  operandsOf(condition)
    .map((operand) => (operand.kind === 'size' ? operand.of : operand))
    .filter((operand) => operand.kind === 'path')

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
