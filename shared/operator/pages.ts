import { cursorFor, fitting, listHash, positionIn } from '../api/pagination.ts'
import type { Cursor } from '../domain/page.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
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
  /** undefined: the list does not have the row */
  viewOf: (row: T) => R | undefined
  isOldestFirst?: boolean
}

const FIRST_KEY = '0'
const LAST_KEY = '9999'

/** Half of the least time of a function. */
const PAGE_MS = 14_000

/**
 * Returns a page of a list, by default newest first, and the cursor of the next page. When the time is up, the
 * page is short or even empty, and the next one continues after the last row that was read.
 */
export const pageOf = async <T, R>(
  call: string,
  { cursor, limit, ...filters }: PageOptions,
  { wallTime: now }: Pick<Runtime, 'wallTime'>,
  { read, keyOf, viewOf, isOldestFirst = false }: RowList<T, R>,
): Promise<ListPage<R[]> | Refusal> => {
  const { from = FIRST_KEY, to } = filters
  const list = listHash(call, '', filters)
  const position = positionIn(list, cursor)
  if (position instanceof Refusal) return position
  const before = to ? dayAfter(to) : LAST_KEY
  const [first, last] = isOldestFirst ? [position ?? from, before] : [from, position ?? before]
  const isAfter = (key: string): boolean =>
    position === undefined || (isOldestFirst ? key > position : key < position)
  const timeIsUp = timeLimit({ now }, PAGE_MS)
  const rows: { key: string; view: R }[] = []
  let reached: string | undefined
  for await (const page of read({ from: first, before: last })) {
    const following = page
      .map((row) => ({ key: keyOf(row), row }))
      .filter(({ key }) => isAfter(key))
    for (const { key, row } of following) {
      const view = viewOf(row)
      if (view !== undefined) rows.push({ key, view })
    }
    if (rows.length > limit) break
    reached = timeIsUp() ? following.at(-1)?.key : undefined
    if (reached) break
  }
  const shown = fitting(rows.slice(0, limit).map(({ view }) => view))
  const end = rows.length > shown.length ? rows[shown.length - 1]?.key : reached
  return new ListPage(shown, end && cursorFor(list, end))
}
