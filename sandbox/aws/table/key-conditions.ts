import { invalid } from './errors.ts'
import type { Parsed } from './expression-reader.ts'
import type { Condition, Operand } from './parse-condition.ts'
import { type Bindings, nameOf } from './placeholders.ts'
import { firstNot, type Row } from './rows.ts'
import { compareText } from './values.ts'

/** The items of one partition that a query selects. */
export type KeyRange = {
  partition: string
  /** Bounds of the sort key; undefined for none. */
  low?: Bound
  high?: Bound
  prefix?: string
}

type Bound = { text: string; isIncluded: boolean }

export type KeyNames = { partitionKey: string; sortKey: string }

/** @throws ValidationException for a condition that does not fit these keys */
export const keyRange = (
  { tree }: Parsed<Condition>,
  { partitionKey, sortKey }: KeyNames,
  bindings: Bindings,
): KeyRange => {
  let partition: string | undefined
  let sort: Omit<KeyRange, 'partition'> | undefined
  for (const part of partsOf(tree)) {
    const attribute = attributeOf(part, bindings)
    if (attribute === partitionKey && partition === undefined) {
      if (part.kind !== 'compare' || part.comparator !== '=') throw unsuitable()
      partition = textOf(part.right, bindings)
    } else if (attribute === sortKey && sort === undefined) sort = rangeOf(part, bindings)
    else throw unsuitable()
  }
  if (partition === undefined) throw unsuitable()
  return { partition, ...sort }
}

const unsuitable = (): Error => invalid('Query key condition not supported')

const partsOf = (condition: Condition): Condition[] =>
  condition.kind === 'and' ? [...partsOf(condition.left), ...partsOf(condition.right)] : [condition]

const attributeOf = (condition: Condition, bindings: Bindings): string => {
  if (condition.kind === 'and' || condition.kind === 'or') throw unsuitable()
  const operand = condition.kind === 'compare' ? condition.left : condition.of
  if (operand.kind !== 'attribute') throw unsuitable()
  return nameOf(operand, bindings)
}

const textOf = (operand: Operand, { values }: Bindings): string => {
  const value = operand.kind === 'value' ? values[operand.name] : undefined
  if (typeof value !== 'string')
    throw invalid('Condition parameter type does not match schema type')
  if (value === '') throw invalid('A key attribute cannot contain an empty string value')
  return value
}

const rangeOf = (part: Condition, bindings: Bindings): Omit<KeyRange, 'partition'> => {
  const bound = (operand: Operand, isIncluded = true): Bound => ({
    text: textOf(operand, bindings),
    isIncluded,
  })
  if (part.kind === 'begins with') return { prefix: textOf(part.prefix, bindings) }
  if (part.kind === 'between') {
    const [low, high] = [bound(part.low), bound(part.high)]
    if (compareText(low.text, high.text) > 0) throw invalid('The upper bound is below the lower')
    return { low, high }
  }
  if (part.kind !== 'compare') throw unsuitable()
  switch (part.comparator) {
    case '=': {
      const both = bound(part.right)
      return { low: both, high: both }
    }
    case '<':
    case '<=':
      return { high: bound(part.right, part.comparator === '<=') }
    case '>':
    case '>=':
      return { low: bound(part.right, part.comparator === '>=') }
  }
}

/** Returns the span of rows in a key range; the end is excluded. */
export const within = (
  rows: readonly Row[],
  sortKey: string,
  { low, high, prefix }: KeyRange,
): [from: number, to: number] => {
  const firstFrom = (isBefore: (text: string) => boolean): number =>
    firstNot(rows, (row) => isBefore(row[sortKey] as string))
  if (prefix !== undefined) {
    return [
      firstFrom((text) => compareText(text, prefix) < 0),
      firstFrom((text) => text.startsWith(prefix) || compareText(text, prefix) < 0),
    ]
  }
  const edge = (bound: string, isAfter: boolean): number =>
    firstFrom((text) => compareText(text, bound) < (isAfter ? 1 : 0))
  const from = low ? edge(low.text, !low.isIncluded) : 0
  const to = high ? edge(high.text, high.isIncluded) : rows.length
  return [from, Math.max(from, to)]
}
