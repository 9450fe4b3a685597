import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { FeedEntry, FeedPosition } from '../../domain/webhooks/feed.ts'
import { keys } from '../keys.ts'
import { currentGeneration } from '../operator/restores.ts'
import { conditionMet, expiresAt, queryAll, queryPages, table, tableName } from '../table.ts'

// The feed of a provider's events. Each page is an append-only list of bounded length, so all readers
// see the same order and miss no event. An event that is relayed twice may appear twice.

/** As many as fit a kilobyte: an append costs one write unit. */
const PAGE_MAX = 30

/**
 * The published 30 days and a reader's delay, from when a page is followed by another. The last
 * one stays, however long it is quiet: from its number all others go on, and every cursor too.
 */
const KEPT_SECONDS = 35 * 86_400

type Page = { page: number; entries: readonly string[]; lastAt: string }

const spelled = ({ reference, n }: FeedEntry): string => `${reference}#${n}`

const entryOf = (text: string): FeedEntry => {
  const [reference = '', n = ''] = text.split('#')
  return { reference: reference as Reference, n: Number(n) }
}

const pk = (provider: ProviderId): string => keys.feedPage(provider, 0).pk

/** The newest pages, newest first. */
const newestPages = async (provider: ProviderId, count: number): Promise<Page[]> =>
  (await queryAll({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk(provider) },
    ScanIndexForward: false,
    ConsistentRead: true,
    Limit: count,
  })) as Page[]

const RACES_MAX = 20

/**
 * The pages of a generation have numbers of their own, above those of all generations before it. So
 * a cursor from the time that a restore has undone stands behind every event of the restored table
 * and before every event since: its reader misses none.
 */
const PAGES_PER_GENERATION = 1_000_000_000

const generationOf = ({ page }: Page): number => Math.floor(page / PAGES_PER_GENERATION) + 1

const firstPage = (generation: number): number => (generation - 1) * PAGES_PER_GENERATION + 1

/** Adds events at the end of a provider's feed, but for those that stand there already. */
export type Append = (
  provider: ProviderId,
  entries: readonly FeedEntry[],
  now: Date,
) => Promise<void>

type Gathered = { entries: FeedEntry[]; written: Promise<void> }

/**
 * Appends for one batch of the stream, which brings many events of one provider at once: what comes
 * while a page is being written goes with the next write, instead of racing for the page.
 */
export const gathering = (): Append => {
  const gathered = new Map<ProviderId, Gathered>()
  const writing = new Map<ProviderId, Promise<void>>()
  return (provider, entries, now) => {
    const open = gathered.get(provider)
    if (open) {
      open.entries.push(...entries)
      return open.written
    }
    const ours = [...entries]
    const written = (writing.get(provider) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        gathered.delete(provider)
        const write = appendToFeed(provider, ours, now)
        writing.set(provider, write)
        return write
      })
    gathered.set(provider, { entries: ours, written })
    return written
  }
}

export const appendToFeed: Append = async (provider, entries, now) => {
  // A batch may bring a record twice.
  let left = [...new Set(entries.map(spelled))]
  let races = 0
  while (races < RACES_MAX) {
    const [[newest, before], generation] = await Promise.all([
      newestPages(provider, 2),
      currentGeneration(now),
    ])
    const known = new Set([...(newest?.entries ?? []), ...(before?.entries ?? [])])
    left = left.filter((entry) => !known.has(entry))
    if (left.length === 0) return
    const count = await appendPage({ provider, newest, generation: generation ?? 1 }, left, now)
    // More than two pages of them would not be known again.
    left = left.slice(count)
    if (left.length === 0) return
    if (count === 0) races += 1
  }
  throw new Error(`The feed of ${provider} changed ${RACES_MAX} times during one append`)
}

type Feed = { provider: ProviderId; newest: Page | undefined; generation: number }

/** @returns how many of them were written; none: another write came first */
const appendPage = async (
  { provider, newest, generation }: Feed,
  entries: readonly string[],
  now: Date,
): Promise<number> => {
  const isCurrent = newest !== undefined && generationOf(newest) >= generation
  const room = isCurrent ? PAGE_MAX - newest.entries.length : 0
  if (newest && room > 0) {
    const some = entries.slice(0, room)
    return (await extend(provider, newest.page, some, now)) ? some.length : 0
  }
  const some = entries.slice(0, PAGE_MAX)
  const page = isCurrent ? newest.page + 1 : firstPage(generation)
  if (!(await begin(provider, page, some, now))) return 0
  if (newest) await retire(provider, newest.page, now)
  return some.length
}

const extend = (
  provider: ProviderId,
  page: number,
  entries: readonly string[],
  now: Date,
): Promise<boolean> =>
  conditionMet(
    table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: keys.feedPage(provider, page),
        UpdateExpression: 'SET entries = list_append(entries, :entries), lastAt = :at',
        ConditionExpression: 'size(entries) <= :room',
        ExpressionAttributeValues: {
          ':entries': entries,
          ':room': PAGE_MAX - entries.length,
          ':at': now.toISOString(),
        },
      }),
    ),
  )

const begin = (
  provider: ProviderId,
  page: number,
  entries: readonly string[],
  now: Date,
): Promise<boolean> =>
  conditionMet(
    table.send(
      new PutCommand({
        TableName: tableName(),
        Item: {
          ...keys.feedPage(provider, page),
          entity: 'feed-page',
          page,
          entries,
          lastAt: now.toISOString(),
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    ),
  )

const retire = async (provider: ProviderId, page: number, now: Date): Promise<void> => {
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: keys.feedPage(provider, page),
      UpdateExpression: 'SET expiresAt = :expires',
      ExpressionAttributeValues: { ':expires': expiresAt(now, KEPT_SECONDS) },
    }),
  )
}

/** Events of a provider from after a position on, in the order of the feed, each with its position. */
export const readFeed = async (
  provider: ProviderId,
  { after, notBefore, limit }: { after: FeedPosition; notBefore: Date; limit: number },
): Promise<{ entry: FeedEntry; position: FeedPosition }[]> => {
  const found: { entry: FeedEntry; position: FeedPosition }[] = []
  const pages = queryPages({
    KeyConditionExpression: 'pk = :pk AND sk >= :from',
    // Older pages wait to be cleaned up; a limit counts them as well.
    FilterExpression: 'lastAt >= :oldest',
    ExpressionAttributeValues: {
      ':pk': pk(provider),
      ':from': keys.feedPage(provider, after.page).sk,
      ':oldest': notBefore.toISOString(),
    },
    ConsistentRead: true,
    Limit: PAGES_AT_ONCE,
  })
  for await (const some of pages) {
    const positioned = (some as Page[])
      .flatMap(({ page, entries }) =>
        entries.map((text, n) => ({ entry: entryOf(text), position: { page, count: n + 1 } })),
      )
      .filter(({ position }) => position.page > after.page || position.count > after.count)
    found.push(...positioned)
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** A tenth of a megabyte: enough to pass over what is old, little to read for what is new. */
const PAGES_AT_ONCE = 100

/** The newest events of a provider, newest first. */
export const readNewest = async (provider: ProviderId, limit: number): Promise<FeedEntry[]> => {
  const pages = await newestPages(provider, Math.ceil(limit / PAGE_MAX) + 1)
  return pages.flatMap(({ entries }) => entries.map(entryOf).reverse()).slice(0, limit)
}

/** What stands in the feed since a time, the newest first, page by page. */
export async function* feedPages(provider: ProviderId, since: Date): AsyncGenerator<FeedEntry[]> {
  const found = queryPages({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk(provider) },
    ScanIndexForward: false,
    ConsistentRead: true,
  })
  for await (const pages of found) {
    const recent = (pages as Page[]).filter(({ lastAt }) => new Date(lastAt) >= since)
    yield recent.flatMap(({ entries }) => entries.map(entryOf))
    if (recent.length < pages.length) return
  }
}

const LOOK_BACK = 20

/** What stands in the feed since a time, to tell what is missing. */
export const feedSince = async (
  provider: ProviderId,
  since: Date,
): Promise<ReadonlySet<string>> => {
  for (let count = LOOK_BACK; ; count *= 4) {
    const pages = await newestPages(provider, count)
    const oldest = pages.at(-1)
    if (pages.length < count || !oldest || new Date(oldest.lastAt) < since) {
      return new Set(pages.flatMap(({ entries }) => entries))
    }
  }
}

/** Whether an event stands in what {@link feedSince} found. */
export const isInFeed = (feed: ReadonlySet<string>, entry: FeedEntry): boolean =>
  feed.has(spelled(entry))
