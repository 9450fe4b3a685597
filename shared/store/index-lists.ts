import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Status } from '../domain/debits/lifecycle.ts'
import { REACH, type Slice } from '../domain/page.ts'
import { table, tableName } from './table.ts'

/** Pages of the indexes that sort debits by creation, newest first. Each read is bounded. */

/** A part of one partition of an index. A position is the `byTime` of an entry. */
export type List = {
  index: keyof typeof PARTITION_KEYS
  key: string
  /** Shows entries in this status alone. */
  status?: Status
  /** The list begins at this position. */
  from?: string | undefined
  /** The list ends before this position. */
  until?: string | undefined
}

const PARTITION_KEYS = { 'by-status': 'byStatus', 'by-customer': 'byCustomer' } as const

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
})

type Entry = Record<string, unknown>

type Examined = {
  items: Entry[]
  count: number
  /** The last entry that the query examined, when others can follow it. */
  end: Entry | undefined
}

/** Entries that one call examines: some 200 KB, far inside the time of a call. */
const AT_ONCE = 2_000

/** Runs a query over a bounded number of entries, call by call. */
export async function* examine(
  input: Omit<QueryCommandInput, 'TableName' | 'Limit'>,
  atMost: number,
): AsyncGenerator<Examined> {
  let left = atMost
  let { ExclusiveStartKey } = input
  do {
    const { Items, Count, ScannedCount, LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName(),
        ...input,
        Limit: Math.min(left, AT_ONCE),
        ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      }),
    )
    yield { items: Items ?? [], count: Count ?? 0, end: LastEvaluatedKey }
    left -= ScannedCount ?? 0
    ExclusiveStartKey = LastEvaluatedKey
  } while (ExclusiveStartKey && left > 0)
}

/** Counts the first entries of a list without reading them. */
export const countEntries = async (
  list: List,
  atMost: number,
): Promise<Pick<Examined, 'count' | 'end'>> => {
  let count = 0
  let end: Entry | undefined
  for await (const page of examine({ ...queryOf(list), Select: 'COUNT' }, atMost)) {
    count += page.count
    end = page.end
  }
  return { count, end }
}

/** Reads the newest positions: `needed` of them, unless the list or the bound ends before. */
const readPositions = async (list: List, needed: number, start: Entry | undefined) => {
  const { status, until = LAST } = list
  const input = { ...queryOf(list), ProjectionExpression: 'byTime', ExclusiveStartKey: start }
  // One more, because BETWEEN includes the entry at `until`.
  const atMost = status ? REACH : needed + 1
  const positions: string[] = []
  let end: string | undefined
  for await (const page of examine(input, atMost)) {
    const read = page.items.map(({ byTime }) => String(byTime))
    positions.push(...read.filter((position) => position < until))
    end = page.end && String(page.end.byTime)
    if (positions.length >= needed) break
  }
  return { positions, end }
}

/** One list is skipped by counting; several or filtered ones are skipped by their positions. */
const skipIn = async (
  lists: readonly List[],
  skip: number,
): Promise<{ start?: Entry; left: number } | 'list ended'> => {
  const [list, ...others] = lists
  if (!list || others.length > 0 || list.status || skip === 0) return { left: skip }
  const { end } = await countEntries(list, skip)
  return end ? { start: end, left: 0 } : 'list ended'
}

/** The positions of a page, and the one after which the next page begins; null: none follows. */
type Positions = { positions: string[]; next: string | null }

/** One page of several lists that are merged. */
export const readMerged = async (
  lists: readonly List[],
  { skip, limit }: Slice,
): Promise<Positions> => {
  const skipped = await skipIn(lists, skip)
  if (skipped === 'list ended') return { positions: [], next: null }
  const { start, left } = skipped
  const upTo = left + limit
  const found = new Set<string>()
  let end: string | undefined
  // One after the other: a debit that changes its list during the read is found in a later one.
  for (const list of lists) {
    const read = await readPositions(list, upTo + 1, start)
    for (const position of read.positions) found.add(position)
    end = read.end
  }
  const newest = [...found].sort().reverse()
  const last = newest[upTo - 1] ?? (start && String(start.byTime))
  const next = newest.length > upTo ? last : end
  return { positions: newest.slice(left, upTo), next: next ?? null }
}

/** The part of a list before a position; none when the list begins after it. */
export const cutAt = (list: List, before: string): List[] => {
  const { from = FIRST, until = LAST } = list
  return before < from ? [] : [{ ...list, until: before < until ? before : until }]
}
