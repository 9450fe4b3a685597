import { cursorFor, fitting, listHash, positionIn } from '../api/pagination.ts'
import type { Cursor } from '../domain/page.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { ListPage } from './handler.ts'

/** Days, and the key where a page begins: the keys of a list begin with the day of their row. */
type PageSpan = { from: string; before: string }

/** The options of a list of rows in the order of time. */
type PageOptions = {
  from?: Day | undefined
  to?: Day | undefined
  cursor?: Cursor | undefined
  limit: number
}

type RowList<T, R> = {
  /** Reads the rows of a span in their order; it may include `before`. */
  read: (span: PageSpan) => AsyncIterable<readonly T[]>
  keyOf: (row: T) => string
  viewOf: (row: T) => R
  matches?: (row: T) => boolean
  isOldestFirst?: boolean
}

const FIRST_KEY = '0'
const LAST_KEY = '9999'

/** Returns a page of a list, by default newest first, and the cursor of the next page. */
export const pageOf = async <T, R>(
  call: string,
  { cursor, limit, ...filters }: PageOptions,
  { read, keyOf, viewOf, matches = () => true, isOldestFirst = false }: RowList<T, R>,
): Promise<ListPage<R[]> | Refusal> => {
  const { from = FIRST_KEY, to } = filters
  const list = listHash(call, '', filters)
  const position = positionIn(list, cursor)
  if (position instanceof Refusal) return position
  const before = to ? dayAfter(to) : LAST_KEY
  const [first, last] = isOldestFirst ? [position ?? from, before] : [from, position ?? before]
  const isAfter = (key: string): boolean =>
    position === undefined || (isOldestFirst ? key > position : key < position)
  const rows: T[] = []
  for await (const page of read({ from: first, before: last })) {
    rows.push(...page.filter((row) => isAfter(keyOf(row)) && matches(row)))
    if (rows.length > limit) break
  }
  const shown = fitting(rows.slice(0, limit).map(viewOf))
  const end = rows.length > shown.length ? rows[shown.length - 1] : undefined
  return new ListPage(shown, end && cursorFor(list, keyOf(end)))
}
