import { invalid } from './errors.ts'
import { type KeyNames, type KeyRange, keyRange } from './key-conditions.ts'
import { edgeOf, type Page, pageOf, type Span } from './pages.ts'
import { type Condition, parseCondition } from './parse-condition.ts'
import { attributeIn, type Bindings, type Path, refuseOverlaps } from './paths.ts'
import { bind, type Placeholders } from './placeholders.ts'
import { parseProjectionText } from './projections.ts'
import { firstNot, type Row, within } from './sorted-rows.ts'
import { pathsIn, refuseKeys, refuseSenseless } from './validate.ts'
import { compareText } from './values.ts'

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

/** What a query is asked of: the table or one of its indexes. */
export type Source = {
  keys: KeyNames
  /** What an index evaluate next to keys; undefined for the table itself. */
  projected: readonly string[] | undefined
  rowsOf: (partition: string) => readonly Row[]
}

/** One page of what a query finds. */
export const query = (input: QueryInput, { keys, projected, rowsOf }: Source): Page => {
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
  if (projection) refuseOverlaps(projection.tree, bindings)
  if (projected) {
    const paths = [...(filter ? pathsIn(filter.tree) : []), ...(projection?.tree ?? [])]
    refuseUnprojected(paths, [...keysOf(keys), ...projected], bindings)
  }
  const range = keyRange(condition, keys, bindings)
  if (input.Select === 'COUNT' && projection) {
    throw invalid('Cannot specify the ProjectionExpression when choosing to get only the Count')
  }
  const rows = rowsOf(range.partition)
  const isForward = input.ScanIndexForward ?? true
  if (input.ExclusiveStartKey) refusePlace(input.ExclusiveStartKey, keys, range)
  const span = left(rows, within(rows, keys.sortKey, range), input, keys)
  return pageOf(rows, span, input, {
    keys,
    bindings,
    isForward,
    edge: input.IndexName === undefined ? edgeOf(range, isForward) : undefined,
    filter: filter?.tree,
    projection: projection?.tree,
  })
}

const keysOf = ({ partitionKey, sortKey }: KeyNames): string[] => [
  'pk',
  'sk',
  partitionKey,
  sortKey,
]

/** No query goes from an index to the table. */
const refuseUnprojected = (
  paths: readonly Path[],
  held: readonly string[],
  bindings: Bindings,
): void => {
  for (const path of paths) {
    const attribute = attributeIn(path, bindings)
    if (!held.includes(attribute)) throw invalid(`The index does not project ${attribute}`)
  }
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
  return pageOf(rows, [0, rows.length], input, {
    keys: { partitionKey: 'pk', sortKey: 'sk' },
    bindings,
    isForward: true,
    edge: undefined,
    filter: filter?.tree,
    projection: projection?.tree,
  })
}

const refuseFilter = (filter: Condition, keys: KeyNames, bindings: Bindings): void => {
  refuseSenseless(filter, bindings)
  refuseKeys(filter, [keys.partitionKey, keys.sortKey], bindings)
}

/** No page can have ended at a place that is not in the range. */
const refusePlace = (
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

/** What is left of a span after the place where the page before it ended. */
const left = (
  rows: readonly Row[],
  [from, to]: Span,
  { ExclusiveStartKey: start, ScanIndexForward }: QueryInput,
  { sortKey }: KeyNames,
): Span => {
  if (!start) return [from, to]
  const place = start as Row
  const order = (row: Row): number =>
    compareText(row[sortKey] as string, place[sortKey] as string) ||
    compareText(row.pk, place.pk) ||
    compareText(row.sk, place.sk)
  // Either end of the span is taken in to the place, which itself was on the page before.
  if (ScanIndexForward === false) {
    const at = firstNot(rows, (row) => order(row) < 0)
    return [from, Math.min(to, at)]
  }
  const next = firstNot(rows, (row) => order(row) <= 0)
  return [Math.max(from, next), to]
}
