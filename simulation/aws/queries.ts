import { bind, type Placeholders } from './bindings.ts'
import { firstNot, type Row, within } from './collections.ts'
import { type Condition, parseCondition } from './conditions.ts'
import { holds, refuseKeys, refuseSenseless } from './holds.ts'
import { type KeyNames, keyRange } from './key-conditions.ts'
import type { Bindings, Path } from './paths.ts'
import { parseProjectionText, projected } from './projections.ts'
import { invalid } from './refusals.ts'
import { compareText, type Value } from './values.ts'

export type QueryInput = Placeholders & {
  TableName?: string | undefined
  IndexName?: string | undefined
  KeyConditionExpression?: string | undefined
  FilterExpression?: string | undefined
  ProjectionExpression?: string | undefined
  Select?: string | undefined
  Limit?: number | undefined
  ScanIndexForward?: boolean | undefined
  ExclusiveStartKey?: Record<string, unknown> | undefined
  ConsistentRead?: boolean | undefined
}

export type Page = {
  Items?: Readonly<Record<string, unknown>>[]
  Count: number
  ScannedCount: number
  LastEvaluatedKey?: Record<string, unknown>
}

/** What a query is asked of: the table or one of its indexes. */
export type Source = { keys: KeyNames; rowsOf: (partition: string) => readonly Row[] }

/** One page of what a query finds. */
export const query = (input: QueryInput, { keys, rowsOf }: Source): Page => {
  const { KeyConditionExpression, FilterExpression, ProjectionExpression } = input
  if (KeyConditionExpression === undefined) {
    throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified')
  }
  const condition = parseCondition(KeyConditionExpression)
  const filter = FilterExpression === undefined ? undefined : parseCondition(FilterExpression)
  const projection =
    ProjectionExpression === undefined ? undefined : parseProjectionText(ProjectionExpression)
  const bindings = bind(input, [condition, filter, projection])
  refuseSenseless(condition.tree, bindings)
  if (filter) refuseFilter(filter.tree, keys, bindings)
  const range = keyRange(condition, keys, bindings)
  const rows = rowsOf(range.partition)
  const [from, to] = within(rows, keys.sortKey, range)
  const isForward = input.ScanIndexForward ?? true
  const ordered = isForward ? rows.slice(from, to) : rows.slice(from, to).reverse()
  const left = after(ordered, input.ExclusiveStartKey, keys, isForward)
  return pageOf(left, input, { keys, bindings, filter: filter?.tree, projection: projection?.tree })
}

/** All items in no order, in one page. */
export const scan = (input: QueryInput, rows: readonly Row[]): Page => {
  if (input.Limit !== undefined || input.ExclusiveStartKey || input.IndexName) {
    throw new Error('The simulated table is scanned as a whole')
  }
  const { FilterExpression, ProjectionExpression } = input
  const filter = FilterExpression === undefined ? undefined : parseCondition(FilterExpression)
  const projection =
    ProjectionExpression === undefined ? undefined : parseProjectionText(ProjectionExpression)
  const bindings = bind(input, [filter, projection])
  if (filter) refuseSenseless(filter.tree, bindings)
  const keys = { partitionKey: 'pk', sortKey: 'sk' }
  return pageOf(rows, input, { keys, bindings, filter: filter?.tree, projection: projection?.tree })
}

const refuseFilter = (filter: Condition, keys: KeyNames, bindings: Bindings): void => {
  refuseSenseless(filter, bindings)
  refuseKeys(filter, [keys.partitionKey, keys.sortKey], bindings)
}

const after = (
  rows: readonly Row[],
  start: Record<string, unknown> | undefined,
  { partitionKey, sortKey }: KeyNames,
  isForward: boolean,
): readonly Row[] => {
  if (!start) return rows
  const text = (row: Row, name: string): string => {
    const value = row[name]
    if (typeof value !== 'string') throw invalid('The provided starting key is invalid')
    return value
  }
  const place = start as Row
  for (const name of [partitionKey, sortKey, 'pk', 'sk']) text(place, name)
  const direction = isForward ? 1 : -1
  const order = (row: Row): number =>
    direction *
    (compareText(text(row, sortKey), text(place, sortKey)) ||
      compareText(row.pk, place.pk) ||
      compareText(row.sk, place.sk))
  return rows.slice(firstNot(rows, (row) => order(row) <= 0))
}

type Shape = {
  keys: KeyNames
  bindings: Bindings
  filter: Condition | undefined
  projection: readonly Path[] | undefined
}

const pageOf = (rows: readonly Row[], input: QueryInput, shape: Shape): Page => {
  const { Limit, Select } = input
  if (Limit !== undefined && Limit < 1) throw invalid('Limit must be at least 1')
  const scanned = Limit !== undefined && Limit <= rows.length ? rows.slice(0, Limit) : rows
  const isCut = Limit !== undefined && Limit <= rows.length
  const { filter, projection, bindings, keys } = shape
  const found = filter
    ? scanned.filter((row) => holds(filter, row as Value, bindings))
    : [...scanned]
  const last = isCut ? scanned.at(-1) : undefined
  const Items: Readonly<Record<string, unknown>>[] = projection
    ? found.map((row) => projected(row as Record<string, Value>, projection, bindings))
    : found
  return {
    ...(Select === 'COUNT' ? {} : { Items }),
    Count: found.length,
    ScannedCount: scanned.length,
    ...(last ? { LastEvaluatedKey: positionOf(last, keys) } : {}),
  }
}

const positionOf = (row: Row, { partitionKey, sortKey }: KeyNames): Record<string, unknown> => ({
  pk: row.pk,
  sk: row.sk,
  [partitionKey]: row[partitionKey],
  [sortKey]: row[sortKey],
})
