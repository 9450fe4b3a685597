import type { ProviderId } from '../../domain/providers/provider.ts'
import type { FeedEntry } from '../../domain/webhooks/feed.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import { type FeedPage, newestFirst, pagesBetween, textOf } from './feed.ts'

/** The pages of the first call and of later ones: most readers need the newest ones only. */
const CALL_FIRST = 2
const CALL_MAX = 1_000
/** After a call of so many pages, pages without the events are skipped. */
const CALL_FEW = 16

/** The clocks of the writers of events and of pages differ by seconds. */
const CLOCKS_MS = 60_000
/** Without a fault an event is in a page of the next minutes. */
const NEAR_MS = 300_000

type Missing = Map<string, FeedEntry & { at: Date }>

const timeOf = ({ lastAt }: FeedPage): number => Date.parse(lastAt)

const nextLimit = (Limit: number): number => Math.min(2 * Limit, CALL_MAX)

const tooLong = (provider: ProviderId) =>
  new Error(`The feed of ${provider} is too long for the time of a run`)

/** Reads pages and removes their events from the missing ones. */
const readPages = async (query: db.QueryInput, missing: Missing): Promise<FeedPage[]> => {
  const pages = (await db.queryAll(query)) as FeedPage[]
  for (const { entries } of pages) for (const text of entries) missing.delete(text)
  return pages
}

/** Returns the times of the first and the last missing event that older pages than this one can have. */
const spanBefore = (page: FeedPage, missing: Missing) => {
  const span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  for (const { at } of missing.values()) {
    if (at.getTime() - CLOCKS_MS > timeOf(page)) continue
    span.first = Math.min(span.first, at.getTime())
    span.last = Math.max(span.last, at.getTime())
  }
  return span
}

/**
 * Returns the events that a feed does not have. Reads from the newest page to older ones until it has
 * found all. If the others are far back, continues at the page of their time and reads to newer ones:
 * an event that was repaired is in a later page.
 * @throws Error if the time is up before the pages near all events are read
 */
export const missingInFeed = async <E extends FeedEntry & { at: Date }>(
  provider: ProviderId,
  events: readonly E[],
  timeIsUp: () => boolean = () => false,
): Promise<E[]> => {
  const missing = new Map(events.map((event) => [textOf(event), event]))
  const oldest = events.reduce(
    (all, { at }) => Math.min(all, at.getTime()),
    Number.POSITIVE_INFINITY,
  )
  let end: FeedPage | undefined
  for (let Limit = CALL_FIRST; missing.size > 0; Limit = nextLimit(Limit)) {
    const start = end && { ExclusiveStartKey: keys.feedPage(provider, end.page) }
    const pages = await readPages({ ...newestFirst(provider), ...start, Limit }, missing)
    end = pages.at(-1)
    if (!end || pages.length < Limit || timeOf(end) < oldest - CLOCKS_MS) break
    if (Limit >= CALL_FEW && spanBefore(end, missing).last < timeOf(end) - NEAR_MS) {
      await searchBefore(end, provider, missing, timeIsUp)
      break
    }
    if (timeIsUp()) throw tooLong(provider)
  }
  return [...missing.values()]
}

/** Reads the pages before one, from the time of the first missing event until all are found. */
const searchBefore = async (
  end: FeedPage,
  provider: ProviderId,
  missing: Missing,
  timeIsUp: () => boolean,
): Promise<void> => {
  const span = spanBefore(end, missing)
  if (span.first > span.last) return
  let first = await firstPageSince(span.first - CLOCKS_MS, provider, end.page)
  for (let Limit = CALL_FEW; first < end.page; Limit = nextLimit(Limit)) {
    const pages = await readPages(
      { ...pagesBetween(provider, first, end.page - 1), Limit },
      missing,
    )
    const last = pages.at(-1)
    if (!last || spanBefore(end, missing).last < span.first) return
    if (timeIsUp()) {
      // A repeated event is tolerated. Otherwise a long feed would keep lost events from a repair.
      if (timeOf(last) > span.last + NEAR_MS) return
      throw tooLong(provider)
    }
    first = last.page + 1
  }
}

/** Returns the number of the first page since a time, by bisection: the times of pages ascend. */
const firstPageSince = async (time: number, provider: ProviderId, end: number): Promise<number> => {
  let [first, last] = [0, end]
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    const query = { ...pagesBetween(provider, middle, last - 1), Limit: 1 }
    // Numbers of removed pages, and those between two generations, have none.
    const [page] = (await db.queryAll(query)) as FeedPage[]
    if (page && timeOf(page) < time) first = page.page + 1
    else last = middle
  }
  return first
}
