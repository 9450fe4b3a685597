import { invalid } from './errors.ts'
import { evaluate } from './evaluate.ts'
import { sizeOf } from './item-size.ts'
import type { KeyNames, KeyRange } from './key-conditions.ts'
import type { Condition } from './parse-condition.ts'
import type { Bindings, Path } from './paths.ts'
import { projected } from './projections.ts'
import type { Row } from './sorted-rows.ts'
import type { Value } from './values.ts'

/** Rows from one position up to another, which is not among them. */
export type Span = readonly [from: number, to: number]

export type Shape = {
  keys: KeyNames
  bindings: Bindings
  isForward: boolean
  /** The sort key after which a page is known to be the last. */
  edge: string | undefined
  filter: Condition | undefined
  projection: readonly Path[] | undefined
}

export type Page = {
  Items?: Readonly<Record<string, unknown>>[]
  Count: number
  ScannedCount: number
  LastEvaluatedKey?: Record<string, unknown>
}

/** DynamoDB ends a page with the row that makes it this long. */
const PAGE_BYTES = 1_048_576

/** Fewer rows would have to be of a hundred kilobytes each: they are not weighed. */
const WEIGHED_ROWS = 10

export const pageOf = (
  rows: readonly Row[],
  [from, to]: Span,
  {
    Limit = Number.POSITIVE_INFINITY,
    Select,
  }: { Limit?: number | undefined; Select?: string | undefined },
  { keys, bindings, isForward, edge, filter, projection }: Shape,
): Page => {
  if (Limit < 1) throw invalid('Limit must be at least 1')
  const isWeighed = Math.min(to - from, Limit) > WEIGHED_ROWS
  const Items: Readonly<Record<string, unknown>>[] = []
  let last: Row | undefined
  let ScannedCount = 0
  let bytes = 0
  for (let n = 0; n < to - from && !last; n += 1) {
    const row = rows[isForward ? from + n : to - 1 - n] as Row
    ScannedCount += 1
    if (isWeighed) bytes += sizeOf(row as Record<string, Value>)
    if (ScannedCount >= Limit || bytes >= PAGE_BYTES) last = row
    if (filter && !evaluate(filter, row as Value, bindings)) continue
    Items.push(projection ? projected(row as Record<string, Value>, projection, bindings) : row)
  }
  return {
    ...(Select === 'COUNT' ? {} : { Items }),
    Count: Items.length,
    ScannedCount,
    ...(last && last[keys.sortKey] !== edge ? { LastEvaluatedKey: positionOf(last, keys) } : {}),
  }
}

/**
 * A sort key that no other can follow in the table, where the condition itself names it as the
 * end of a range; DynamoDB asks no further then.
 */
export const edgeOf = ({ low, high }: KeyRange, isForward: boolean): string | undefined => {
  if (low === high) return undefined
  const bound = isForward ? high : low
  return bound?.isIn ? bound.text : undefined
}

const positionOf = (row: Row, { partitionKey, sortKey }: KeyNames): Record<string, unknown> => ({
  pk: row.pk,
  sk: row.sk,
  [partitionKey]: row[partitionKey],
  [sortKey]: row[sortKey],
})
