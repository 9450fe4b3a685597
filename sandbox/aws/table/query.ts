import { invalid, unsupported } from './errors.ts'
import { evaluate } from './evaluate.ts'
import { sizeOf } from './item-size.ts'
import { type KeyNames, type KeyRange, keyRange, within } from './key-conditions.ts'
import { type Condition, parseCondition } from './parse-condition.ts'
import { type Bindings, bind, nameOf, type Placeholders } from './placeholders.ts'
import { firstNot, orderBy, type Row } from './rows.ts'
import type { Value } from './values.ts'

export type QueryInput = Placeholders & {
  TableName?: string | undefined
  IndexName?: string | undefined
  KeyConditionExpression?: string | undefined
  FilterExpression?: string | undefined
  /** Names of attributes, separated by commas. */
  ProjectionExpression?: string | undefined
  Select?: string | undefined
  Limit?: number | undefined
  ScanIndexForward?: boolean | undefined
  ExclusiveStartKey?: Record<string, unknown> | undefined
  ConsistentRead?: boolean | undefined
}

/** The table or one of its indexes. */
export type Source = {
  keys: KeyNames
  /** The attributes of an index besides its keys; undefined for the table. */
  projected: readonly string[] | undefined
  rowsOf: (partition: string) => readonly Row[]
}

type Page = {
  Items?: Readonly<Record<string, unknown>>[]
  Count: number
  ScannedCount: number
  LastEvaluatedKey?: Record<string, unknown>
}

/** @param isWeighed whether `bytes`, the size of the examined rows, is needed */
export const query = (
  input: QueryInput,
  { keys, projected, rowsOf }: Source,
  options: { isWeighed: boolean },
): { page: Page; bytes: number } => {
  const { KeyConditionExpression = '', FilterExpression, ProjectionExpression } = input
  const { Limit = Number.POSITIVE_INFINITY, Select, ScanIndexForward: isForward = true } = input
  if (Limit < 1) throw invalid('Limit must be at least 1')
  const condition = parseCondition(KeyConditionExpression)
  const filter = FilterExpression === undefined ? undefined : parseCondition(FilterExpression)
  const bindings = bind(input, [condition, filter])
  if (filter) checkFilter(filter.tree, { keys, projected }, bindings)
  const range = keyRange(condition, keys, bindings)
  const rows = rowsOf(range.partition)
  if (input.ExclusiveStartKey) checkStart(input.ExclusiveStartKey, keys, range)
  const [from, to] = spanAfter(rows, within(rows, keys.sortKey, range), input, keys)
  const projection = ProjectionExpression?.split(/\s*,\s*/)
  const isWeighed = options.isWeighed || Math.min(to - from, Limit) > WEIGHED_ROWS
  const Items: Readonly<Record<string, unknown>>[] = []
  let last: Row | undefined
  let ScannedCount = 0
  let bytes = 0
  for (let offset = 0; offset < to - from && !last; offset += 1) {
    const row = rows[isForward ? from + offset : to - 1 - offset] as Row
    ScannedCount += 1
    if (isWeighed) bytes += sizeOf(row as Record<string, Value>)
    if (ScannedCount >= Limit || bytes >= PAGE_BYTES) last = row
    if (filter && !evaluate(filter.tree, row, bindings)) continue
    Items.push(projection ? projectedRow(row, projection) : row)
  }
  const edge = input.IndexName === undefined ? edgeOf(range, isForward) : undefined
  const page = {
    ...(Select === 'COUNT' ? {} : { Items }),
    Count: Items.length,
    ScannedCount,
    ...(last && last[keys.sortKey] !== edge ? { LastEvaluatedKey: positionOf(last, keys) } : {}),
  }
  return { page, bytes }
}

/** DynamoDB ends a page with the row that makes it this long. */
const PAGE_BYTES = 1_048_576

/** Shorter pages cannot reach the limit: an item has far less than 100 kB. */
const WEIGHED_ROWS = 10

/** @throws for a filter on a key, or on an attribute that the index does not project */
const checkFilter = (
  filter: Condition,
  { keys, projected }: Omit<Source, 'rowsOf'>,
  bindings: Bindings,
): void => {
  if (filter.kind === 'and' || filter.kind === 'or') {
    checkFilter(filter.left, { keys, projected }, bindings)
    checkFilter(filter.right, { keys, projected }, bindings)
    return
  }
  const operand = filter.kind === 'compare' ? filter.left : filter.of
  if (operand.kind !== 'attribute') throw unsupported(`filter on a ${operand.kind}`)
  const name = nameOf(operand, bindings)
  if (name === keys.partitionKey || name === keys.sortKey) {
    throw invalid('Filter Expression can only contain non-primary key attributes')
  }
  if (projected && !['pk', 'sk', ...projected].includes(name)) {
    throw invalid(`The index does not project ${name}`)
  }
}

/** @throws ValidationException for a start key that no page of the range can end with */
const checkStart = (
  start: Record<string, unknown>,
  { partitionKey, sortKey }: KeyNames,
  range: KeyRange,
): void => {
  const names = new Set([partitionKey, sortKey, 'pk', 'sk'])
  const isKey = [...names].every((name) => typeof start[name] === 'string')
  if (!isKey || Object.keys(start).length !== names.size) {
    throw invalid('The provided starting key is invalid')
  }
  const [from, to] = within([start as Row], sortKey, range)
  if (start[partitionKey] !== range.partition || from === to) {
    throw invalid('The provided starting key is outside query boundaries')
  }
}

/** Rows from one position up to another, which is excluded. */
type Span = readonly [from: number, to: number]

/** Returns the part of a span after the start key. */
const spanAfter = (
  rows: readonly Row[],
  [from, to]: Span,
  { ExclusiveStartKey, ScanIndexForward }: QueryInput,
  { sortKey }: KeyNames,
): Span => {
  if (!ExclusiveStartKey) return [from, to]
  const order = orderBy(sortKey)
  const start = ExclusiveStartKey as Row
  if (ScanIndexForward === false) {
    const end = firstNot(rows, (row) => order(row, start) < 0)
    return [from, Math.min(to, end)]
  }
  const next = firstNot(rows, (row) => order(row, start) <= 0)
  return [Math.max(from, next), to]
}

const projectedRow = (row: Row, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (name in row ? [[name, row[name]]] : [])))

/** Returns the included end of a range: DynamoDB returns no position after it. */
const edgeOf = ({ low, high }: KeyRange, isForward: boolean): string | undefined => {
  if (low === high) return undefined
  const bound = isForward ? high : low
  return bound?.isIncluded ? bound.text : undefined
}

const positionOf = (row: Row, { partitionKey, sortKey }: KeyNames): Record<string, unknown> => ({
  pk: row.pk,
  sk: row.sk,
  [partitionKey]: row[partitionKey],
  [sortKey]: row[sortKey],
})
