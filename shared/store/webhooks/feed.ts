import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { FeedEntry, FeedPosition } from '../../domain/webhooks/feed.ts'
import { keys } from '../keys.ts'
import { currentGeneration } from '../operator/restores.ts'
import { optimistically } from '../optimistic.ts'
import * as db from '../table.ts'

// The feed of a provider's events (docs/api.md#event-feed). Each page is an append-only list of bounded
// length, so all readers see the same order and miss no event. An event that is relayed twice may
// appear twice.

/** The entries that fit into a kilobyte, so that an append costs one write unit. */
const PAGE_MAX = 30

/**
 * The published 30 days and five more for slow readers. The newest page never expires, because the next
 * one has its number plus one.
 */
const RETENTION_SECONDS = 35 * DAY_SECONDS

export type FeedPage = {
  page: number
  entries: readonly string[]
  lastAt: string
  expiresAt?: number
}

export const textOf = ({ reference, n }: FeedEntry): string => `${reference}#${n}`

const entryOf = (text: string): FeedEntry => {
  const [reference = '', n = ''] = text.split('#')
  return { reference: reference as Reference, n: Number(n) }
}

const pk = (provider: ProviderId): string => keys.feedPage(provider, 0).pk

export const newestFirst = (provider: ProviderId) => ({
  ...db.collectionQuery({ pk: pk(provider) }),
  ScanIndexForward: false,
})

/** Returns the query of pages by their numbers, both included. */
export const pagesBetween = (provider: ProviderId, first: number, last: number) =>
  db.itemsQuery(pk(provider), 'sk BETWEEN :first AND :last', {
    ':first': keys.feedPage(provider, first).sk,
    ':last': keys.feedPage(provider, last).sk,
  })

const newestPages = async (provider: ProviderId, count: number): Promise<FeedPage[]> =>
  (await db.queryAll({ ...newestFirst(provider), Limit: count })) as FeedPage[]

/**
 * The page numbers of a generation are above those of every earlier one. A cursor from before a restore
 * is after every event of the restored table and before every later event, so its reader misses none.
 */
const PAGES_PER_GENERATION = 1_000_000_000

export const generationOf = ({ page }: FeedPage): number =>
  Math.floor(page / PAGES_PER_GENERATION) + 1

const firstPage = (generation: number): number => (generation - 1) * PAGES_PER_GENERATION + 1

/**
 * Appends events to a provider's feed, except those that its newest pages of this generation have. One writer
 * at a time per provider writes without races; any number is safe.
 */
export const appendToFeed = async (
  provider: ProviderId,
  entries: readonly FeedEntry[],
  at: Date,
): Promise<void> => {
  // A batch may contain an event twice.
  let remaining = [...new Set(entries.map(textOf))]
  // The pages that an interrupted append of the same events has written, and the one before.
  const count = Math.ceil(remaining.length / PAGE_MAX) + 1
  await optimistically(`The feed of ${provider}`, async () => {
    const [pages, generation = 1] = await Promise.all([
      newestPages(provider, count),
      currentGeneration(at),
    ])
    const current = pages.filter((page) => generationOf(page) >= generation)
    const known = new Set(current.flatMap(({ entries }) => entries))
    remaining = remaining.filter((entry) => !known.has(entry))
    let [newest, before] = pages
    // An append that was interrupted after its new page leaves this to the next one.
    if (before && !before.expiresAt) await setExpiry(provider, before.page, at)
    while (remaining.length > 0) {
      const written = await writePage({ provider, newest, generation }, remaining, at)
      if (!written) return undefined
      remaining = remaining.slice(written.count)
      newest = written.page
    }
    return true
  })
}

type Feed = { provider: ProviderId; newest: FeedPage | undefined; generation: number }

/** Fills the newest page or adds the next one. Returns undefined when another write was first. */
const writePage = async (
  { provider, newest, generation }: Feed,
  entries: readonly string[],
  at: Date,
): Promise<{ page: FeedPage; count: number } | undefined> => {
  const isCurrent = newest !== undefined && generationOf(newest) >= generation
  const room = isCurrent ? PAGE_MAX - newest.entries.length : 0
  const count = Math.min(entries.length, room > 0 ? room : PAGE_MAX)
  const part = entries.slice(0, count)
  // The next page follows at once, so the same write sets the expiry of this one.
  const expiry = entries.length > count ? { expiresAt: db.expiresAt(at, RETENTION_SECONDS) } : {}
  const change = { lastAt: at.toISOString(), ...expiry }
  if (newest && room > 0) {
    const page = { ...newest, ...change, entries: [...newest.entries, ...part] }
    return (await extendPage(provider, page, part)) ? { page, count } : undefined
  }
  const number = isCurrent ? newest.page + 1 : firstPage(generation)
  const page = { page: number, entries: part, ...change }
  const key = keys.feedPage(provider, number)
  if (!(await db.putIf({ ...key, entity: 'feed-page', ...page }, db.isNew))) return undefined
  if (newest && !newest.expiresAt) await setExpiry(provider, newest.page, at)
  return { page, count }
}

/** A write that is repeated after a lost response finds the page longer, so it appends nothing twice. */
const extendPage = (
  provider: ProviderId,
  { page, entries, lastAt, expiresAt }: FeedPage,
  part: string[],
) =>
  db.updateIf(keys.feedPage(provider, page), {
    UpdateExpression: `SET entries = list_append(entries, :entries), lastAt = :at${
      expiresAt ? ', expiresAt = :expires' : ''
    }`,
    ConditionExpression: 'size(entries) = :size',
    ExpressionAttributeValues: {
      ':entries': part,
      ':size': entries.length - part.length,
      ':at': lastAt,
      ...(expiresAt && { ':expires': expiresAt }),
    },
  })

const setExpiry = async (provider: ProviderId, page: number, at: Date): Promise<void> => {
  await db.updateIf(keys.feedPage(provider, page), {
    UpdateExpression: 'SET expiresAt = :expires',
    ExpressionAttributeValues: { ':expires': db.expiresAt(at, RETENTION_SECONDS) },
  })
}

export const timeOf = ({ lastAt }: Pick<FeedPage, 'lastAt'>): number => Date.parse(lastAt)

/** Returns the number of the first page since a time, by bisection: the times of pages ascend. */
export const firstPageSince = async (
  time: number,
  provider: ProviderId,
  [first, last]: [number, number],
): Promise<number> => {
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

/** The pages that one query of {@link listFeed} reads: a tenth of a megabyte. */
const QUERY_PAGES = 100

/** Yields the pages from a number, except expired ones, which the table may still have. */
async function* pagesFrom(
  provider: ProviderId,
  first: number,
  notBefore: Date,
): AsyncGenerator<FeedPage[]> {
  const isExpired = (page: FeedPage): boolean => timeOf(page) < notBefore.getTime()
  const query = db.itemsQuery(pk(provider), 'sk >= :from', {
    ':from': keys.feedPage(provider, first).sk,
  })
  for await (const part of db.queryPages({ ...query, Limit: QUERY_PAGES })) {
    const pages = part as FeedPage[]
    const last = pages.at(-1)
    if (last && isExpired(last) && pages.length === QUERY_PAGES) {
      // A large provider has more expired pages than a call can read.
      const newest = (await newestPages(provider, 1))[0]?.page ?? last.page
      const range: [number, number] = [last.page + 1, newest]
      yield* pagesFrom(
        provider,
        await firstPageSince(notBefore.getTime(), provider, range),
        notBefore,
      )
      return
    }
    yield pages.filter((page) => !isExpired(page))
  }
}

/** Lists the events of a provider after a position, in the order of the feed. */
export const listFeed = async (
  provider: ProviderId,
  { after, notBefore, limit }: { after: FeedPosition; notBefore: Date; limit: number },
): Promise<{ entry: FeedEntry; position: FeedPosition }[]> => {
  const events: { entry: FeedEntry; position: FeedPosition }[] = []
  for await (const pages of pagesFrom(provider, after.page, notBefore)) {
    const positioned = pages
      .flatMap(({ page, entries }) =>
        entries.map((text, index) => ({
          entry: entryOf(text),
          position: { page, count: index + 1 },
        })),
      )
      .filter(({ position }) => position.page > after.page || position.count > after.count)
    events.push(...positioned)
    if (events.length >= limit) break
  }
  return events.slice(0, limit)
}

export type ListedEvent = { key: string; entry: FeedEntry }

/** The pages of feeds that one call of {@link listedEvents} reads. */
const LISTED_AT_ONCE = 4

/** Lists the events of a provider, newest first. Their keys are in the order of the feed. */
export async function* listedEvents(
  provider: ProviderId,
  before: string,
): AsyncGenerator<ListedEvent[]> {
  const query = db.itemsQuery(pk(provider), 'sk <= :before', { ':before': before })
  const pages = db.queryPages({ ...query, ScanIndexForward: false, Limit: LISTED_AT_ONCE })
  for await (const part of pages) {
    yield (part as FeedPage[]).flatMap(({ page, entries }) => {
      const { sk } = keys.feedPage(provider, page)
      return entries
        .map((text, n) => ({ key: `${sk}#${String(n).padStart(2, '0')}`, entry: entryOf(text) }))
        .reverse()
    })
  }
}

/** The pages that one call of {@link recentFeed} reads: up to 15,000 events. */
const LISTED_PAGES = 500

/**
 * Lists events of the feed since a time, from the newest page to older ones.
 * @param below reads pages with lower numbers
 * @returns the number of the last page, if older ones can follow
 */
export const recentFeed = async (provider: ProviderId, since: Date, below?: number) => {
  const range =
    below === undefined
      ? {}
      : db.itemsQuery(pk(provider), 'sk < :below', { ':below': keys.feedPage(provider, below).sk })
  const query = { ...newestFirst(provider), ...range, Limit: LISTED_PAGES }
  const pages = (await db.queryAll(query)) as FeedPage[]
  const recent = pages.filter(({ lastAt }) => new Date(lastAt) >= since)
  return {
    entries: recent.flatMap(({ entries }) => entries.map(entryOf)),
    next: recent.length === LISTED_PAGES ? recent.at(-1)?.page : undefined,
  }
}
