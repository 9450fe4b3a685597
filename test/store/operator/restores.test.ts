import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { appendFeed } from '../../../functions/jobs/append-feed.ts'
import { manageRestore } from '../../../functions/operator/manage-restore.ts'
import type { Reference } from '../../../shared/domain/ids.ts'
import { isHeldBy } from '../../../shared/domain/operator/restore.ts'
import type { Batch } from '../../../shared/domain/settlement/batch.ts'
import { DAY_SECONDS, type Day } from '../../../shared/domain/time.ts'
import type { FeedEntry } from '../../../shared/domain/webhooks/feed.ts'
import { currentGeneration, findRestore } from '../../../shared/store/operator/restores.ts'
import { toBatchItem } from '../../../shared/store/settlement/batch-item.ts'
import { findOpenBatch } from '../../../shared/store/settlement/batches.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import { appendToFeed, listFeed } from '../../../shared/store/webhooks/feed.ts'
import { missingInFeed } from '../../../shared/store/webhooks/feed-search.ts'
import { take } from '../../settlement/messages-sent.ts'
import { demoProvider, inSeconds, NOON, providerId, still } from '../../support/examples.ts'
import { listNewest } from '../../support/newest-events.ts'
import { storeProvider, storeRestore } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

/** Tests the effects of a restore on generations, batch ids and pages of the feed. */

beforeEach(async () => {
  process.env.CACHE_SECONDS = '0'
  await useFreshTable()
})
afterEach(() => {
  delete process.env.CACHE_SECONDS
})

const event = (n: number): FeedEntry => ({ reference: 'DCS-20261121-ABC123' as Reference, n })
const after = { page: 1, count: 5 }

test('a restore lists at most five hundred released providers, and then releases all together', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => providerId(`p-${n}`))
  const manage = manageRestore(still())
  const release = (options: Record<string, string>) =>
    manage({ verb: 'release', options, actor: 'local:ama' })
  await storeProvider(demoProvider)
  await storeRestore(2, { released: ids })
  expect(await release({ provider: demoProvider.id })).toMatchObject({
    error: expect.stringContaining('500 providers are released: release all together'),
  })
  expect(await findRestore()).toMatchObject({ released: ids, releasedAt: null })
  await release({})
  expect(await findRestore()).toMatchObject({ released: ids, releasedAt: NOON })
})

test('the release of the last held provider ends a restore, which holds no later provider', async () => {
  const manage = manageRestore(still())
  const release = (id: string) =>
    manage({ verb: 'release', options: { provider: id }, actor: 'local:ama' })
  const other = { ...demoProvider, id: providerId('other') }
  for (const one of [demoProvider, other]) await storeProvider(one)
  await storeRestore(2)
  expect(await release(other.id)).toMatchObject({
    result: { held: [demoProvider.id], released_at: null },
  })
  const all = { held: [], released: [other.id, demoProvider.id], released_at: NOON.toISOString() }
  expect(await release(demoProvider.id)).toMatchObject({ result: all })
  expect(isHeldBy(await findRestore(), providerId('later'))).toBe(false)
  // An earlier version released them all one by one.
  await storeRestore(3, { released: [other.id, demoProvider.id] })
  expect(await release(other.id)).toMatchObject({ result: all })
})

test('a message that was redriven days after a restore appends no event that the restore has lost', async () => {
  const provider = providerId('redriven')
  await storeRestore(2)
  // It waits in its queue for four days, and in the dead-letter queue for fourteen.
  for (const [seconds, appended] of [
    [DAY_SECONDS, 0],
    [18 * DAY_SECONDS, 0],
    [18 * DAY_SECONDS + 1, 1],
  ] as const) {
    const job = appendFeed(still({ now: () => inSeconds(seconds) }))
    expect(await take(job, 'feeds.fifo', { provider, events: [event(1)] })).toEqual({
      batchItemFailures: [],
    })
    const read = { after: { page: 0, count: 0 }, notBefore: new Date(0), limit: 100 }
    expect(await listFeed(provider, read)).toHaveLength(appended)
  }
})

test('the feed continues in pages of the new generation, so that a lost cursor skips no event', async () => {
  const provider = providerId('fed')
  await appendToFeed(provider, [event(0), event(1)], NOON)
  // A reader has read three more events, which the restore has undone.
  await storeRestore(2)
  await appendToFeed(provider, [event(2)], NOON)
  await appendToFeed(provider, [event(3), event(4)], NOON)
  const read = async (position = { page: 0, count: 0 }) =>
    listFeed(provider, { after: position, notBefore: new Date(0), limit: 100 })
  expect((await read(after)).map(({ entry }) => entry)).toEqual([2, 3, 4].map(event))
  expect((await read()).map(({ entry }) => entry)).toEqual([0, 1, 2, 3, 4].map(event))
  expect((await read()).map(({ position }) => position)).toEqual([
    { page: 1, count: 1 },
    { page: 1, count: 2 },
    ...[1, 2, 3].map((count) => ({ page: 1_000_000_001, count })),
  ])
  expect(await listNewest(provider, 2)).toEqual([event(4), event(3)])
})

test('the feed takes an event whose number an earlier generation used for a lost one', async () => {
  const provider = providerId('reused')
  const written = { ...event(2), at: NOON }
  const rewritten = { ...written, generation: 2 }
  await appendToFeed(provider, [event(2)], NOON)
  await storeRestore(2)
  expect(await missingInFeed(provider, [written])).toEqual([])
  expect(await missingInFeed(provider, [rewritten])).toEqual([rewritten])
  await appendToFeed(provider, [event(2)], NOON)
  await appendToFeed(provider, [event(2)], NOON)
  expect(await listNewest(provider, 3)).toEqual([event(2), event(2)])
  expect(await missingInFeed(provider, [rewritten])).toEqual([])
})

test('the feed fills its pages in every generation', async () => {
  const provider = providerId('filled')
  await storeRestore(9)
  const many = Array.from({ length: 65 }, (_, n) => event(n))
  await appendToFeed(provider, many, NOON)
  const found = await listFeed(provider, { after, notBefore: new Date(0), limit: 100 })
  expect(found.map(({ entry }) => entry)).toEqual(many)
  expect(found.at(-1)?.position).toEqual({ page: 8_000_000_003, count: 5 })
})

const provider = providerId('settled')
const date = '2026-11-22' as Day
const find = () => findOpenBatch({ provider, date, feeSchedule: null }, still())
const place = async (): Promise<Batch> => (await find()).batch

const written = async (batch: Batch): Promise<Batch> => {
  await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(batch) }))
  return batch
}

test('a new batch never has the id of a batch that a restore lost', async () => {
  const batches = [await place()]
  for (const generation of [2, 3]) {
    await storeRestore(generation)
    batches.push(await place())
  }
  expect(new Set(batches.map(({ id }) => id)).size).toBe(3)
  expect(batches).toMatchObject([{ n: 1 }, { n: 1, generation: 2 }, { n: 1, generation: 3 }])
  expect(batches[0]).not.toHaveProperty('generation')
})

test('an open batch from before the restore stays in use, and later ones follow it', async () => {
  const open = await written(await place())
  await storeRestore(2)
  expect(await find()).toEqual({ batch: open, isNew: false })
  await written({ ...open, sealedAt: NOON })
  const next = await written({ ...(await place()), sealedAt: NOON })
  expect([open.n, next.n, (await place()).n]).toEqual([1, 2, 3])
  expect(next.id).not.toBe(open.id)
})

test('the generation is cached for 30 seconds, also without any restore', async () => {
  process.env.CACHE_SECONDS = '30'
  // Last, because the reads of other tests are cached.
  expect(await currentGeneration(inSeconds(86_400))).toBeUndefined()
  await storeRestore(2)
  expect(await currentGeneration(inSeconds(86_429))).toBeUndefined()
  expect(await currentGeneration(inSeconds(86_430))).toBe(2)
})
