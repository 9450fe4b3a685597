import { setImmediate as turn } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Reference } from '../../../shared/domain/ids.ts'
import type { ProviderId } from '../../../shared/domain/providers/provider.ts'
import type { FeedEntry, FeedPosition } from '../../../shared/domain/webhooks/feed.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, put, read as stored } from '../../../shared/store/table.ts'
import { appendToFeed, listFeed, recentFeed } from '../../../shared/store/webhooks/feed.ts'
import { missingInFeed } from '../../../shared/store/webhooks/feed-search.ts'
import { inSeconds, NOON, providerId } from '../../support/examples.ts'
import { aroundTableCalls } from '../../support/table-calls.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const ago = (days: number): Date => inSeconds(-days * 86_400)
const START = { page: 0, count: 0 }

const event = (number: number, n = 0): FeedEntry => ({
  reference: `DCS-20261121-${String(number).padStart(6, '0')}` as Reference,
  n,
})
const events = (from: number, through: number): FeedEntry[] =>
  Array.from({ length: through - from + 1 }, (_, place) => event(from + place))

const read = (
  provider: ProviderId,
  after: FeedPosition = START,
  limit = 1_000,
  notBefore = ago(30),
) => listFeed(provider, { after, notBefore, limit })

const entries = async (provider: ProviderId): Promise<FeedEntry[]> =>
  (await read(provider)).map(({ entry }) => entry)

const pageItem = (provider: ProviderId, page: number) => stored<Item>(keys.feedPage(provider, page))

test('every page expires except the newest', async () => {
  const provider = providerId('quiet')
  // The second page is full, but still the newest one.
  await appendToFeed(provider, events(1, 60), ago(40))
  expect((await pageItem(provider, 2))?.expiresAt).toBeUndefined()
  await appendToFeed(provider, [event(61)], ago(40))
  const expiries = await Promise.all(
    [1, 2, 3].map(async (page) => (await pageItem(provider, page))?.expiresAt),
  )
  const expected = ago(5).getTime() / 1000
  expect(expiries).toEqual([expected, expected, undefined])
  await appendToFeed(provider, [event(62)], NOON)
  expect(await read(provider, { page: 3, count: 1 })).toEqual([
    { entry: event(62), position: { page: 3, count: 2 } },
  ])
})

test('a full page expires also if the append that began the next one was interrupted', async () => {
  const provider = providerId('half')
  await appendToFeed(provider, events(1, 30), NOON)
  const restore = aroundTableCalls(async (name, call) => {
    if (name === 'Update') throw new Error('interrupted')
    return call()
  })
  const append = () => appendToFeed(provider, [event(31)], NOON)
  await expect(append()).rejects.toThrow('interrupted')
  restore()
  await append()
  expect(await entries(provider)).toEqual(events(1, 31))
  expect((await pageItem(provider, 1))?.expiresAt).toBe(inSeconds(35 * 86_400).getTime() / 1000)
})

const provider = providerId('reader')
beforeAll(() => appendToFeed(provider, events(1, 100), NOON))

test.each([1, 29, 30, 31, 99, 100, 101])('the pages of %i have each event once', async (limit) => {
  const seen: FeedEntry[] = []
  let after: FeedPosition = START
  for (;;) {
    const found = await read(provider, after, limit)
    expect(found.length).toBe(Math.min(limit, 100 - seen.length))
    const last = found.at(-1)
    if (!last) break
    seen.push(...found.map(({ entry }) => entry))
    after = last.position
  }
  expect(seen).toEqual(events(1, 100))
})

test('an expired page is not returned', async () => {
  const old = providerId('old')
  await appendToFeed(old, events(1, 30), ago(31))
  await appendToFeed(old, events(31, 40), ago(30))
  expect((await read(old)).map(({ entry }) => entry)).toEqual(events(31, 40))
  const after = new Date(ago(30).getTime() + 1)
  expect(await read(old, START, 1_000, after)).toEqual([])
})

test('a feed with many expired pages is read in few queries', async () => {
  const provider = providerId('large')
  const pages = 5_000
  for (let page = 1; page <= pages; page += 1) {
    const { reference, n } = event(page)
    const lastAt = page < pages - 1 ? ago(36 - (5 * page) / pages) : ago(29)
    const item = { page, entries: [`${reference}#${n}`], lastAt: lastAt.toISOString() }
    await put(keys.feedPage(provider, page), 'feed-page', item)
  }
  let queries = 0
  const restore = aroundTableCalls((_, next) => {
    queries += 1
    return next()
  })
  const positions = [START, { page: 500, count: 1 }, { page: pages - 1, count: 0 }]
  const found = []
  for (const after of positions) found.push((await read(provider, after)).map((one) => one.entry))
  restore()
  expect(found).toEqual(positions.map(() => events(pages - 1, pages)))
  expect(queries).toBeLessThan(50)
})

test('an event in the last two pages is not appended again, and new ones with it are', async () => {
  const provider = providerId('again')
  await appendToFeed(provider, events(1, 45), NOON)
  await appendToFeed(provider, [event(1), event(30), event(45)], NOON)
  await appendToFeed(provider, [event(45), event(46), event(2)], NOON)
  expect(await entries(provider)).toEqual(events(1, 46))
})

test('the events since a time are those of all later pages, more than one read has', async () => {
  const provider = providerId('since')
  await appendToFeed(provider, events(1, 30), ago(4))
  await appendToFeed(provider, events(31, 60), ago(3))
  for (let n = 61; n <= 900; n += 280) await appendToFeed(provider, events(n, n + 279), ago(2))
  const at = (entries: ReturnType<typeof events>) => entries.map((one) => ({ ...one, at: ago(2) }))
  const others = at([event(901), event(61, 1)])
  expect(await missingInFeed(provider, at(events(61, 900)))).toEqual([])
  expect(await missingInFeed(provider, [...at(events(61, 900)), ...others])).toEqual(others)
  expect(await missingInFeed(providerId('nobody'), others)).toEqual(others)
})

/** Stores pages with an event each, a second after each other. */
const putPages = async (provider: ProviderId, count: number) => {
  for (let page = 1; page <= count; page += 1) {
    const { reference, n } = event(page)
    const lastAt = inSeconds(page).toISOString()
    await put(keys.feedPage(provider, page), 'feed-page', {
      ...{ page, entries: [`${reference}#${n}`], lastAt },
    })
  }
}

test('an event from before the first page of a feed is missing', async () => {
  const provider = providerId('begins')
  // A search follows the calls of 2, 4, 8 and 16 pages.
  await putPages(provider, 30)
  const lost = { ...event(99), at: inSeconds(-3_600) }
  expect(await missingInFeed(provider, [lost])).toEqual([lost])
})

test('the reads of five hundred feed pages each list every event since a time once, the newest first', async () => {
  const provider = providerId('recent')
  await putPages(provider, 1_002)
  const counts: number[] = []
  const found: FeedEntry[] = []
  for (let below: number | undefined, isLast = false; !isLast; ) {
    const { entries, next } = await recentFeed(provider, inSeconds(2), below)
    counts.push(entries.length)
    found.push(...entries)
    below = next
    isLast = next === undefined
  }
  expect(counts).toEqual([500, 500, 1])
  expect(found.reverse()).toEqual(events(2, 1_002))
})

describe('the search of events of an hour ago', () => {
  const provider = providerId('long')
  const at = (second: number) => ({ ...event(second), at: inSeconds(second) })
  const lost = { ...event(1, 7), at: inSeconds(200) }
  const late = { ...event(1, 8), at: inSeconds(200) }

  /** Stores a page a second. The last one of an event that was repaired is later. */
  beforeAll(async () => {
    for (let page = 1; page <= 3_600; page += 1) {
      const entries = [event(page), ...(page === 3_000 ? [late] : [])]
      await put(keys.feedPage(provider, page), 'feed-page', {
        page,
        entries: entries.map(({ reference, n }) => `${reference}#${n}`),
        lastAt: inSeconds(page).toISOString(),
      })
    }
  })

  /** Returns the missing ones of events, and the number of pages that were read. */
  const search = async (events: (FeedEntry & { at: Date })[], looks = Number.POSITIVE_INFINITY) => {
    let [pages, remaining] = [0, looks]
    const restore = aroundTableCalls(async (_, next) => {
      const reply = await next()
      pages += (reply as { Items: unknown[] }).Items.length
      return reply
    })
    const timeIsUp = () => {
      remaining -= 1
      return remaining < 0
    }
    const missing = await missingInFeed(provider, events, timeIsUp).finally(restore)
    return { missing, pages }
  }
  const present = [100, 250, 400].map(at)

  test.each([
    ['their time and the newest ones', present],
    ['their times', [100, 3_000].map(at)],
  ])('the pages between %s are not read', async (_, events) => {
    const { missing, pages } = await search(events)
    expect(missing).toEqual([])
    expect(pages).toBeLessThan(600)
  })

  test('an event that is far behind its time is found, and a lost one is missing', async () => {
    expect((await search([...present, late, lost])).missing).toEqual([lost])
  })

  test('an event that is not near its time is missing if the time is up', async () => {
    expect((await search([...present, late], 12)).missing).toEqual([late])
    // Also if one of the others is far from it.
    expect((await search([...present, late, lost, at(3_100)], 12)).missing).toEqual([late, lost])
    for (const [events, looks] of [[[...present, late], 5] as const, [[at(3_500)], 1] as const]) {
      await expect(search([...events], looks)).rejects.toThrow('too long for the time of a run')
    }
  })
})

/** Returns a worker that shares only the table with the others, as another function does. */
const newWorker = async (): Promise<typeof appendToFeed> => {
  vi.resetModules()
  return (await import('../../../shared/store/webhooks/feed.ts')).appendToFeed
}

test('no event is lost, no reader misses one, and the events of a debit keep their order', async () => {
  const provider = providerId('busy')
  const workers = []
  for (let n = 0; n < 8; n += 1) workers.push(await newWorker())
  let writing = true
  /** Reads with a cursor during the writes, and a last time after them. */
  const follow = async (limit: number): Promise<FeedEntry[]> => {
    const seen: FeedEntry[] = []
    let after: FeedPosition = START
    for (;;) {
      const isLast = !writing
      const found = await read(provider, after, limit)
      seen.push(...found.map(({ entry }) => entry))
      after = found.at(-1)?.position ?? after
      if (isLast && found.length === 0) return seen
      await turn()
    }
  }
  const readers = [1, 3, 30, 100].map(follow)
  // A debit brings two events when it is created, and one with each transition.
  const write = async (append: typeof appendToFeed, debit: number) => {
    for (const ns of [[0, 1], [2], [3], [4]]) {
      await append(
        provider,
        ns.map((n) => event(debit, n)),
        NOON,
      )
    }
  }
  await Promise.all(workers.map(write))
  writing = false
  const found = await read(provider)
  const order = found.map(({ entry }) => entry)
  for (const seen of await Promise.all(readers)) expect(seen).toEqual(order)
  const debits = [...Map.groupBy(order, ({ reference }) => reference).values()]
  expect(debits.map((ours) => ours.map(({ n }) => n))).toEqual(Array(8).fill([0, 1, 2, 3, 4]))
  const pages = [...Map.groupBy(found, ({ position }) => position.page).values()]
  expect(pages.map((page) => page.length)).toEqual([30, 10])
}, 60_000)

test('an append whose write is repeated after a lost response appends its events once', async () => {
  const provider = providerId('lost')
  await appendToFeed(provider, events(1, 5), NOON)
  const restore = aroundTableCalls(async (name, call) => {
    if (name === 'Put' || name === 'Update') await call()
    return call()
  })
  await appendToFeed(provider, events(6, 10), NOON)
  await appendToFeed(provider, events(11, 40), NOON).finally(restore)
  expect(await entries(provider)).toEqual(events(1, 40))
})

test('an append that was interrupted appends only the events that are missing', async () => {
  const provider = providerId('batch')
  // A batch may contain an event twice.
  const batch = [...events(1, 3), ...events(2, 1_000), event(5)]
  let writes = 0
  const restore = aroundTableCalls(async (name, call) => {
    if (name === 'Put' || name === 'Update') writes += 1
    if (writes === 20) throw new Error('interrupted')
    return call()
  })
  await expect(appendToFeed(provider, batch, NOON)).rejects.toThrow('interrupted')
  writes = 21
  await appendToFeed(provider, batch, NOON)
  restore()
  expect(await entries(provider)).toEqual(events(1, 1_000))
  // One write per page of thirty.
  expect(writes - 21 + 19).toBeLessThanOrEqual(Math.ceil(1_000 / 30) + 1)
})
