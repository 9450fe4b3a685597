import type { ProviderId } from '../../domain/providers/provider.ts'
import type { EventKey } from '../../domain/webhooks/event.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import {
  type FeedPage,
  firstPageSince,
  generationOf,
  newestFirst,
  pagesBetween,
  textOf,
  timeOf,
} from './feed.ts'

/** The pages of the first call and of later ones: most readers need the newest ones only. */
const CALL_FIRST = 2
const CALL_MAX = 1_000
/** After a call of so many pages, pages without the events are skipped. */
const CALL_FEW = 16

/** The clocks of the writers of events and of pages differ by seconds. */
const CLOCKS_MS = 60_000
/** Without a fault an event is in a page of the next minutes, and after a pause of the stream in a later one. */
const NEAR_MS = 300_000
const LATE_MS = 1_200_000

type Missing = Map<string, EventKey & { at: Date }>

const nextLimit = (Limit: number): number => Math.min(2 * Limit, CALL_MAX)

const tooLong = (provider: ProviderId) =>
  new Error(`The feed of ${provider} is too long for the time of a run`)

/**
 * Reads pages and removes their events from the missing ones. A page of an earlier generation has the event that
 * a restore lost, not the one that got its number.
 */
const readPages = async (query: db.QueryInput, missing: Missing): Promise<FeedPage[]> => {
  const pages = (await db.queryAll(query)) as FeedPage[]
  for (const page of pages)
    for (const text of page.entries)
      if (generationOf(page) >= (missing.get(text)?.generation ?? 1)) missing.delete(text)
  return pages
}

/** Returns the times of the first and the last event, since a time, that older pages than this one can have. */
const spanBefore = (page: FeedPage, missing: Missing, since = 0) => {
  const span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  for (const { at } of missing.values()) {
    const time = at.getTime()
    if (time < since || time - CLOCKS_MS > timeOf(page)) continue
    span.first = Math.min(span.first, time)
    span.last = Math.max(span.last, time)
  }
  return span
}

/**
 * Returns the events that a feed does not have. Reads from the newest page to older ones until it has
 * found all. If the others are far back, reads the pages near their times. While there is time, it then
 * reads all pages since the first missing event: an event that was repaired is in a later page.
 * @throws Error if the time is up before the pages near all events are read
 */
export const missingInFeed = async <E extends EventKey & { at: Date }>(
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
      const search = { end, provider, missing, timeIsUp }
      if (!(await searchBefore(search, LATE_MS))) throw tooLong(provider)
      // Without an end, a long feed would keep lost events from a repair. A repeated event is tolerated.
      await searchBefore(search, Number.POSITIVE_INFINITY)
      break
    }
    if (timeIsUp()) throw tooLong(provider)
  }
  return [...missing.values()]
}

type Search = { end: FeedPage; provider: ProviderId; missing: Missing; timeIsUp: () => boolean }

/**
 * Reads the pages before one, up to some milliseconds after the time of each missing event.
 * @returns false if the time is up before
 */
const searchBefore = async (
  { end, provider, missing, timeIsUp }: Search,
  nearMs: number,
): Promise<boolean> => {
  let first = 0
  let reached = Number.NEGATIVE_INFINITY
  for (let Limit = CALL_FEW; ; Limit = nextLimit(Limit)) {
    const next = spanBefore(end, missing, reached - nearMs).first
    if (next === Number.POSITIVE_INFINITY) return true
    if (timeIsUp()) return false
    // The pages in between have none.
    if (reached < next - NEAR_MS) {
      first = Math.max(first, await firstPageSince(next - CLOCKS_MS, provider, [0, end.page]))
    }
    if (first >= end.page) return true
    const query = { ...pagesBetween(provider, first, end.page - 1), Limit }
    const last = (await readPages(query, missing)).at(-1)
    if (!last) return true
    first = last.page + 1
    reached = timeOf(last)
  }
}
