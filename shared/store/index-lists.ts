import { REACH, type Slice } from '../domain/page.ts'
import { type Examined, examine, type Item } from './table.ts'

/** Pages of the indexes that sort debits by creation, newest first. Every read is bounded. */

/** A part of one partition of an index. A position is the `byTime` of an entry. */
export type List = {
  index: keyof typeof PARTITION_KEYS
  key: string
  /** The list begins at this position. */
  from?: string | undefined
  /** The list ends before this position. */
  until?: string | undefined
  /** Returns the entries that the list has; by default all. */
  select?: (entries: readonly Item[]) => Promise<Item[]>
}

const PARTITION_KEYS = { 'by-status': 'byStatus', 'by-customer': 'byCustomer' } as const

/** Entries that one call examines, about 200 KB. */
const CALL_MAX = 2_000
/** Entries that one call examines before some are selected, which may read their debits. */
const SELECT_MAX = 200

// Before and after every position.
const FIRST = '0'
const LAST = '~'

export const queryOf = ({ index, key, from = FIRST, until = LAST, select }: List) => ({
  IndexName: index,
  KeyConditionExpression: `${PARTITION_KEYS[index]} = :list AND byTime BETWEEN :first AND :until`,
  ExpressionAttributeValues: { ':list': key, ':first': from, ':until': until },
  ScanIndexForward: false,
  Limit: select ? SELECT_MAX : CALL_MAX,
})

/** Reads the entries that a list has, newest first, and examines at most `max`. */
export async function* entriesOf(list: List, max: number): AsyncGenerator<Omit<Examined, 'count'>> {
  const { select, until = LAST } = list
  for await (const { items, end } of examine(queryOf(list), max)) {
    // BETWEEN includes the entry at `until`.
    const entries = items.filter(({ byTime }) => String(byTime) < until)
    yield { items: select ? await select(entries) : entries, end }
  }
}

/** Counts the first entries of a list; without reading them, if it has all. */
export const countEntries = async (
  list: List,
  max: number,
): Promise<Pick<Examined, 'count' | 'end'>> => {
  let count = 0
  let end: Item | undefined
  if (list.select) {
    for await (const page of entriesOf(list, max)) {
      count += page.items.length
      end = page.end
    }
    return { count, end }
  }
  for await (const page of examine({ ...queryOf(list), Select: 'COUNT' }, max)) {
    count += page.count
    end = page.end
  }
  return { count, end }
}

/**
 * Reads the `needed` newest positions, fewer if the list or the bound ends first.
 * @returns as `bound` the last examined position, if the bound ended the read
 */
const readPositions = async (list: List, needed: number, start: Item | undefined) => {
  const max = list.select ? REACH : needed + 1
  const positions: string[] = []
  let end: Item | undefined
  for await (const page of entriesOf(
    { ...list, ...(start && { until: String(start.byTime) }) },
    max,
  )) {
    positions.push(...page.items.map(({ byTime }) => String(byTime)))
    end = page.end
    if (positions.length >= needed) break
  }
  return { positions, bound: positions.length < needed ? end && String(end.byTime) : undefined }
}

/** Skips in a single list without selection by counting. @returns undefined when it has no more entries */
const skipIn = async (lists: readonly List[], skip: number) => {
  const [list, ...others] = lists
  if (!list || others.length > 0 || list.select || skip === 0) return { toSkip: skip }
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
  let bound: string | undefined
  // In sequence: a debit that changes its list during the read appears in a later list.
  for (const list of lists) {
    const part = await readPositions(list, upTo + 1, start)
    for (const position of part.positions) merged.add(position)
    // Older positions of other lists follow after the entries that were not examined.
    if (part.bound && (!bound || part.bound > bound)) bound = part.bound
  }
  const all = [...merged].sort().reverse()
  const newest = bound ? all.filter((position) => position >= String(bound)) : all
  const last = newest[upTo - 1] ?? (start && String(start.byTime))
  const next = newest.length > upTo ? last : bound
  return { positions: newest.slice(toSkip, upTo), next: next ?? null }
}

/** Returns the part of a list before a position; none if the list begins after it. */
export const cutAt = (list: List, before: string): List[] => {
  const { from = FIRST, until = LAST } = list
  return before < from ? [] : [{ ...list, until: before < until ? before : until }]
}

/** Returns the part of a list from a position; none if the list ends before it. */
export const cutFrom = (list: List, first: string): List[] => {
  const { from = FIRST, until = LAST } = list
  return until < first ? [] : [{ ...list, from: first > from ? first : from }]
}
