import type { Status } from '../domain/debits/lifecycle.ts'
import { REACH, type Slice } from '../domain/page.ts'
import { type Examined, examine, type Item } from './table.ts'

/** Pages of the indexes that sort debits by creation, newest first. Every read is bounded. */

/** A part of one partition of an index. A position is the `byTime` of an entry. */
export type List = {
  index: keyof typeof PARTITION_KEYS
  key: string
  status?: Status
  /** The list begins at this position. */
  from?: string | undefined
  /** The list ends before this position. */
  until?: string | undefined
}

const PARTITION_KEYS = { 'by-status': 'byStatus', 'by-customer': 'byCustomer' } as const

/** Entries that one call examines, about 200 KB. */
const CALL_MAX = 2_000

// Before and after every position.
const FIRST = '0'
const LAST = '~'

export const queryOf = ({ index, key, status, from = FIRST, until = LAST }: List) => ({
  IndexName: index,
  KeyConditionExpression: `${PARTITION_KEYS[index]} = :list AND byTime BETWEEN :from AND :until`,
  ExpressionAttributeValues: {
    ':list': key,
    ':from': from,
    ':until': until,
    ...(status ? { ':status': status } : {}),
  },
  ...(status
    ? { FilterExpression: '#status = :status', ExpressionAttributeNames: { '#status': 'status' } }
    : {}),
  ScanIndexForward: false,
  Limit: CALL_MAX,
})

/** Counts the first entries of a list without reading them. */
export const countEntries = async (
  list: List,
  max: number,
): Promise<Pick<Examined, 'count' | 'end'>> => {
  let count = 0
  let end: Item | undefined
  for await (const page of examine({ ...queryOf(list), Select: 'COUNT' }, max)) {
    count += page.count
    end = page.end
  }
  return { count, end }
}

/** Reads the `needed` newest positions, fewer if the list or the bound ends first. */
const readPositions = async (list: List, needed: number, start: Item | undefined) => {
  const { status, until = LAST } = list
  const input = { ...queryOf(list), ProjectionExpression: 'byTime', ExclusiveStartKey: start }
  // BETWEEN includes the entry at `until`.
  const max = status ? REACH : needed + 1
  const positions: string[] = []
  let end: string | undefined
  for await (const page of examine(input, max)) {
    const pagePositions = page.items.map(({ byTime }) => String(byTime))
    positions.push(...pagePositions.filter((position) => position < until))
    end = page.end && String(page.end.byTime)
    if (positions.length >= needed) break
  }
  return { positions, end }
}

/** Skips in a single unfiltered list by counting. @returns undefined when it has no more entries */
const skipIn = async (lists: readonly List[], skip: number) => {
  const [list, ...others] = lists
  if (!list || others.length > 0 || list.status || skip === 0) return { toSkip: skip }
  const { end } = await countEntries(list, skip)
  return end && { start: end, toSkip: 0 }
}

/** The positions of a page, and the position that the next page follows; null: the last page. */
type Positions = { positions: string[]; next: string | null }

export const readMerged = async (
  lists: readonly List[],
  { skip, limit }: Slice,
): Promise<Positions> => {
  const skipped = await skipIn(lists, skip)
  if (!skipped) return { positions: [], next: null }
  const { start, toSkip } = skipped
  const upTo = toSkip + limit
  const merged = new Set<string>()
  let end: string | undefined
  // In sequence: a debit that changes its list during the read appears in a later list.
  for (const list of lists) {
    const part = await readPositions(list, upTo + 1, start)
    for (const position of part.positions) merged.add(position)
    end = part.end
  }
  const newest = [...merged].sort().reverse()
  const last = newest[upTo - 1] ?? (start && String(start.byTime))
  const next = newest.length > upTo ? last : end
  return { positions: newest.slice(toSkip, upTo), next: next ?? null }
}

/** Returns the part of a list before a position; none if the list begins after it. */
export const cutAt = (list: List, before: string): List[] => {
  const { from = FIRST, until = LAST } = list
  return before < from ? [] : [{ ...list, until: before < until ? before : until }]
}
