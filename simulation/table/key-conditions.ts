import { invalid } from './errors.ts'
import type { Parsed } from './expression-reader.ts'
import type { Condition, Operand } from './parse-condition.ts'
import { attributeIn, type Bindings } from './paths.ts'
import type { Value } from './values.ts'

/** Which items of one partition a query asks for. */
export type KeyRange = {
  partition: string
  /** Bounds of the sort key; undefined: none. */
  low?: Bound
  high?: Bound
  prefix?: string
}

type Bound = { text: string; isIn: boolean }

export type KeyNames = { partitionKey: string; sortKey: string }

/** @throws ValidationException for whatever is no condition on these keys */
export const keyRange = (
  { tree }: Parsed<Condition>,
  { partitionKey, sortKey }: KeyNames,
  bindings: Bindings,
): KeyRange => {
  let partition: string | undefined
  let sort: Omit<KeyRange, 'partition'> | undefined
  for (const part of partsOf(tree).map(pathFirst)) {
    const attribute = attributeOf(part, bindings)
    if (attribute === partitionKey && partition === undefined) {
      if (part.kind !== 'compare' || part.comparator !== '=') throw unsupported()
      partition = textOf(part.right, bindings)
    } else if (attribute === sortKey && sort === undefined) sort = rangeOf(part, bindings)
    else throw unsupported()
  }
  if (partition === undefined) throw unsupported()
  return { partition, ...sort }
}

const unsupported = (): Error => invalid('Query key condition not supported')

const partsOf = (condition: Condition): Condition[] =>
  condition.kind === 'and' ? [...partsOf(condition.left), ...partsOf(condition.right)] : [condition]

const TURNED = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

const pathFirst = (part: Condition): Condition =>
  part.kind === 'compare' && part.left.kind === 'value'
    ? { ...part, left: part.right, right: part.left, comparator: TURNED[part.comparator] }
    : part

const attributeOf = (condition: Condition, bindings: Bindings): string => {
  const operand =
    condition.kind === 'compare'
      ? condition.left
      : condition.kind === 'between' || condition.kind === 'begins with'
        ? condition.of
        : undefined
  if (operand?.kind !== 'path' || operand.steps.length > 1) throw unsupported()
  return attributeIn(operand, bindings)
}

const textOf = (operand: Operand, { values }: Bindings): string => {
  const value: Value | undefined = operand.kind === 'value' ? values[operand.name] : undefined
  if (typeof value !== 'string')
    throw invalid('Condition parameter type does not match schema type')
  if (value === '') throw invalid('A key attribute cannot contain an empty string value')
  return value
}

const rangeOf = (part: Condition, bindings: Bindings): Omit<KeyRange, 'partition'> => {
  if (part.kind === 'begins with') return { prefix: textOf(part.operand, bindings) }
  if (part.kind === 'between') {
    return {
      low: { text: textOf(part.low, bindings), isIn: true },
      high: { text: textOf(part.high, bindings), isIn: true },
    }
  }
  if (part.kind !== 'compare') throw unsupported()
  const text = textOf(part.right, bindings)
  switch (part.comparator) {
    case '=': {
      const both = { text, isIn: true }
      return { low: both, high: both }
    }
    case '<':
    case '<=':
      return { high: { text, isIn: part.comparator === '<=' } }
    case '>':
    case '>=':
      return { low: { text, isIn: part.comparator === '>=' } }
    case '<>':
      throw unsupported()
  }
}
