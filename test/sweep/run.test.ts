import { beforeEach, expect, test } from 'vitest'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import { manageWebhook } from '../../functions/operator/manage-webhook.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import { DAY_SECONDS, secondsAfter } from '../../shared/domain/time.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { SETTLED } from '../../shared/domain/webhooks/event.ts'
import { reverseDebit } from '../../shared/operator/transitions.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { addLines } from '../../shared/store/settlement/lines.ts'
import {
  findSweepProgress,
  putSweepProgress,
  sweptBefore,
} from '../../shared/store/sweep-progress.ts'
import { type Item, read, tableName } from '../../shared/store/table.ts'
import {
  findDelivery,
  listDeliveries,
  replaceDelivery,
} from '../../shared/store/webhooks/deliveries.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'
import { repair } from '../../shared/sweep/repair.ts'
import { sweepAll } from '../../shared/sweep/run.ts'
import { gathered, take, useQueues } from '../settlement/messages-sent.ts'
import { batch } from '../settlement/report/one-batch.ts'
import {
  bankMove,
  demoProvider,
  inSeconds,
  NOON,
  pendingDebit,
  providerId,
  still,
  webhook,
} from '../support/examples.ts'
import { listNewest } from '../support/newest-events.ts'
import { captureOutput } from '../support/output.ts'
import { granted } from '../support/refused.ts'
import { storeProvider, storeWebhook } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useTable } from '../support/tables.ts'

process.env.SEALING_KEY = 'sandbox'
process.env.METRICS_DISABLED = 'false'
const { clear, metrics } = captureOutput()
useQueues()

let readUnits = 0

beforeEach(() => {
  clear()
  const { run } = useTable({
    onConsumed: ({ kind, units }) => {
      if (kind === 'read') readUnits += units
    },
  })
  insert = (item) => void run('PutCommand', { TableName: tableName(), Item: item })
})

let insert: (item: Item) => void

/** Writes a debit as its last write leaves it. */
const write = (debit: Debit): Debit => {
  const isOpen = debit.status === 'pending' || debit.status === 'processing'
  insert(JSON.parse(JSON.stringify({ ...toDebitItem(debit), ...(!isOpen && workAfter(debit)) })))
  return debit
}

const moved = (debit: Debit, to: 'processing' | 'completed' | 'failed', at: Date): Debit =>
  granted(bankMove(to, { at })(debit))

const completedDebit = (provider: ProviderId, at: Date, seconds = 30): Debit => {
  const processing = moved(pendingDebit({ provider }, at), 'processing', secondsAfter(at, 1))
  return write(moved(processing, 'completed', secondsAfter(at, seconds)))
}

const run = (now: Date, overrides = {}) =>
  gathered(() => sweepAll(still({ now: () => now, ...overrides })))

const published = async (provider: ProviderId): Promise<string[]> =>
  (await listNewest(provider, 100_000)).map(({ reference, n }) => `${reference}#${n}`).sort()

const provider = demoProvider.id

/** Stores the demo provider, whose debits are swept until a number of seconds from noon. */
const sweptUntil = async (seconds: number): Promise<void> => {
  await storeProvider(demoProvider)
  await putSweepProgress({ until: inSeconds(seconds), behind: new Map() })
}

/** Returns the first events of debits, sorted as `published` names them. */
const eventsOf = (debits: readonly Debit[], count = 4): string[] =>
  debits
    .flatMap(({ facts }) => Array.from({ length: count }, (_, n) => `${facts.reference}#${n}`))
    .sort()

const itemOf = async ({ facts }: Debit) => read<Item>(keys.debit(facts.reference))

test('each event of a span is published once, however many runs follow', async () => {
  await sweptUntil(-600)
  const debits = [-500, -400, -350].map((at) => completedDebit(provider, inSeconds(at)))
  await run(NOON)
  expect(await published(provider)).toEqual(eventsOf(debits))
  await run(inSeconds(60))
  expect(await published(provider)).toEqual(eventsOf(debits))
})

test('a run is measured with the lag of the sweep and the events that it repaired', async () => {
  await sweptUntil(-600)
  completedDebit(provider, inSeconds(-500))
  await take(sweep(still()), 'sweeps', {})
  const lag = { SweepRuns: 1, SweepLagSeconds: expect.any(Number) }
  expect(metrics()).toEqual([{ SweepRepaired: 4 }, lag])
})

test('a debit that is still open moves to `open`, due after its next deadline', async () => {
  await sweptUntil(-600)
  const at = inSeconds(-200)
  const processing = write(moved(pendingDebit({ provider }, at), 'processing', secondsAfter(at, 1)))
  const pending = write(pendingDebit({ provider }, at))
  const recent = write(pendingDebit({ provider }, inSeconds(-149)))
  const sent = await run(NOON)
  expect(await itemOf(processing)).toMatchObject({
    byStatus: 'demo#open',
    work: expect.stringMatching(/^WATCH#/),
    due: secondsAfter(at, 1 + 300 + 15).toISOString(),
    version: processing.version,
  })
  // A lost submission is sent again.
  const { reference } = pending.facts
  const submission = { queue: 'submissions', body: { reference, resubmission: true } }
  expect(sent).toMatchObject([submission])
  expect(await itemOf(pending)).toMatchObject({ byStatus: 'demo#open' })
  expect(await itemOf(recent)).toMatchObject({ byStatus: 'demo#good' })
  expect(await itemOf(recent)).not.toHaveProperty('work')
})

test('the timeout of an open debit whose deadline has passed is sent in the run after the one that found it', async () => {
  await storeProvider(demoProvider)
  const at = inSeconds(-700)
  const { facts } = write(moved(pendingDebit({ provider }, at), 'processing', secondsAfter(at, 1)))
  const { reference } = facts
  const body = { reference, phase: 'approval' }
  expect(await run(NOON)).toEqual([])
  expect(await run(inSeconds(60))).toMatchObject([{ queue: 'expiries', body }])
  await take(expireDebit(still({ now: () => inSeconds(60) })), 'expiries', body)
  expect(await findDebit(reference)).toMatchObject({ status: 'failed' })
  expect(await read<Item>(keys.debit(reference))).toMatchObject({ byStatus: 'demo#failed' })
})

test('a debit that was charged in the last two minutes is not submitted again', async () => {
  const debits = [-119, -120].map((at) => write(pendingDebit({ provider }, inSeconds(at))))
  const checked = debits.map((debit) => ({ debit, deliveries: [] }))
  const sent = await gathered(() => repair(provider, checked, NOON))
  const { reference } = debits[1]?.facts ?? {}
  expect(sent).toMatchObject([{ queue: 'submissions', body: { reference } }])
})

/** Returns a clock that takes some seconds for each look at it. */
const slowClock = (start: Date, seconds: number) => {
  let looks = 0
  return () => {
    looks += 1
    return secondsAfter(start, looks * seconds)
  }
}

test('a provider that a run cannot finish continues where it was, and delays no other', async () => {
  const [busy, quiet] = [providerId('busy'), providerId('quiet')]
  for (const id of [busy, quiet]) await storeProvider({ ...demoProvider, id })
  await putSweepProgress({ until: inSeconds(-3_600), behind: new Map() })
  const debits = Array.from({ length: 1_000 }, (_, n) => completedDebit(busy, inSeconds(n - 3_000)))
  const only = completedDebit(quiet, inSeconds(-3_000))
  const now = slowClock(NOON, 4)
  await run(NOON, { now })
  const progress = await findSweepProgress()
  expect(await published(quiet)).toHaveLength(4)
  expect(sweptBefore(progress, quiet)).toEqual(progress?.until)
  const reached = sweptBefore(progress, busy)
  expect(reached < inSeconds(-2_000) && reached > inSeconds(-3_000)).toBe(true)
  let lag = 0
  for (let runs = 0; runs < 10; runs += 1) {
    await gathered(async () => {
      lag = await sweepAll(still({ now: slowClock(secondsAfter(NOON, 60 * runs), 1) }))
    })
  }
  expect(await published(busy)).toEqual(eventsOf(debits))
  expect(await published(quiet)).toEqual(eventsOf([only]))
  expect((await findSweepProgress())?.behind).toEqual(new Map())
  expect(lag).toBeLessThan(300)
})

test('a sweep that was down for half an hour catches up, though its feed is long', async () => {
  await sweptUntil(-1_860)
  let page = 0
  const insertPage = (at: number, entries: readonly string[]) => {
    page += 1
    const lastAt = inSeconds(at).toISOString()
    insert({ ...keys.feedPage(provider, page), entity: 'feed-page', page, entries, lastAt })
  }
  // Each debit, event and page stands for a hundred, of 1,000 debits a second.
  const debits = Array.from({ length: 1_000 }, (_, n) =>
    completedDebit(provider, inSeconds(n / 10 - 1_800), 20),
  )
  const events = debits.flatMap((debit) => eventsOf([debit]))
  for (let n = 0; n < events.length; n += 30) insertPage(n / 40 - 1_779, events.slice(n, n + 30))
  const fill = (from: number, to: number) => {
    for (let at = from; at < to; at += 0.75) insertPage(at, ['DCS-20261122-ZZZZ10#0'])
  }
  fill(-1_670, 0)
  let ms = 0
  const restore = aroundTableCalls(async (name, next) => {
    const reply = (await next()) as { Items?: Item[] }
    // A partition returns 12,000 pages of a feed a second, and ten workers read 2,000 debits a second.
    const [kind] = String(reply.Items?.[0]?.pk).split('#')
    if (name === 'Query' && kind === 'FEED') ms += 8.5 * (reply.Items?.length ?? 0)
    if (name === 'Query' && kind === 'DEBIT') ms += 50
    return reply
  })
  for (const minute of [0, 1, 2]) {
    if (minute > 0) fill(60 * (minute - 1), 60 * minute)
    ms = minute * 60_000
    await run(NOON, { now: () => inSeconds(ms / 1_000) })
  }
  restore()
  expect(sweptBefore(await findSweepProgress(), provider)).toEqual(inSeconds(-30))
})

test('a fault of one provider leaves its progress and repairs the others', async () => {
  const [broken, sound] = [providerId('broken'), providerId('sound')]
  for (const id of [broken, sound]) await storeProvider({ ...demoProvider, id })
  await putSweepProgress({ until: inSeconds(-600), behind: new Map() })
  for (const id of [broken, sound]) completedDebit(id, inSeconds(-400))
  const page = { ...keys.feedPage(broken, 1), entity: 'feed-page', page: 1 }
  insert({ ...page, entries: 'no list', lastAt: 1 })
  await run(NOON)
  const progress = await findSweepProgress()
  expect(sweptBefore(progress, broken)).toEqual(inSeconds(-600))
  expect(sweptBefore(progress, sound)).toEqual(inSeconds(-150))
  expect(await published(sound)).toHaveLength(4)
})

/** Writes the debits of some minutes at a steady rate, with feed and deliveries, as without faults. */
const writeHistory = async (id: ProviderId, perSecond: number, seconds: number) => {
  for (let second = -seconds; second < 0; second += 1) {
    const debits = Array.from({ length: perSecond }, (_, n) =>
      completedDebit(id, inSeconds(second + n / perSecond)),
    )
    await Promise.all(
      debits.flatMap(({ facts: { reference }, history }) =>
        history.map(({ type, at }, n) =>
          replaceDelivery(
            undefined,
            newDelivery({ reference, n, provider: id, type, at }, webhook),
          ),
        ),
      ),
    )
    const events = debits.flatMap(({ facts: { reference } }) =>
      [0, 1, 2, 3].map((n) => ({ reference, n })),
    )
    await appendToFeed(id, events, inSeconds(second))
  }
}

test('the read units per debit do not grow with the rate of a provider', async () => {
  const write = async (perSecond: number) => {
    const id = providerId(`rate-${perSecond}`)
    await storeProvider({ ...demoProvider, id })
    await storeWebhook(id, webhook)
    await writeHistory(id, perSecond, 330)
  }
  const perDebit: number[] = []
  for (const perSecond of [1, 4, 16]) {
    await write(perSecond)
    await putSweepProgress({ until: inSeconds(-210), behind: new Map() })
    readUnits = 0
    expect(await run(NOON)).toEqual([])
    perDebit.push(readUnits / (60 * perSecond))
  }
  // The index, the debit with its deliveries, a part of the feed; at 1/s also a run's queries of eight shards.
  expect(Math.max(...perDebit)).toBeLessThan(1.4)
  expect(Math.max(...perDebit) / Math.min(...perDebit)).toBeLessThan(1.1)
}, 60_000)

/** Changes the webhook at a number of seconds from noon, as an operator does. */
const setWebhook = (seconds: number, options: Record<string, string>) => {
  const manage = manageWebhook(still({ now: () => inSeconds(seconds) }))
  const url = { provider, url: 'https://8.8.8.8/hooks' }
  return manage({ verb: 'set', options: { ...url, ...options }, actor: 'local:ama' })
}

/** Returns the events of a debit that the sweep has made due for delivery. */
const repairedOf = async ({ facts }: Debit) =>
  (await listDeliveries(facts.reference)).map(({ event }) => event)

test.each([
  ['another timeout', { timeout: '20' }],
  ['another URL', { url: 'https://8.8.8.8/other' }],
  ['the same settings', {}],
])('a lost event stays owed after the webhook is set again with %s', async (_, options) => {
  await sweptUntil(-600)
  const earlier = completedDebit(provider, inSeconds(-590))
  await setWebhook(-520, {})
  const lost = completedDebit(provider, inSeconds(-500))
  await setWebhook(-200, options)
  await run(NOON)
  expect(await repairedOf(lost)).toEqual(['created', 'pending', 'processing', 'completed'])
  expect(await repairedOf(earlier)).toEqual([])
})

test('an event of a type that is subscribed later is owed from then on', async () => {
  await sweptUntil(-600)
  await setWebhook(-590, { events: 'transaction.created' })
  const before = completedDebit(provider, inSeconds(-500))
  await setWebhook(-400, { events: 'transaction.created,transaction.completed' })
  const between = completedDebit(provider, inSeconds(-390))
  await setWebhook(-300, { timeout: '20' })
  const after = completedDebit(provider, inSeconds(-290))
  await setWebhook(-200, { events: 'none' })
  await run(NOON)
  const [created, completed] = ['created', 'completed']
  const repaired = await Promise.all([before, between, after].map(repairedOf))
  expect(repaired).toEqual([[created], [created, completed], [created, completed]])
})

/** Runs a minute at a time, as after an outage of the sweep. */
const runFrom = async (start: number, minutes: number) => {
  for (let minute = 0; minute < minutes; minute += 1) await run(inSeconds(start + 60 * minute))
}

const reverse = ({ facts }: Debit) => {
  const author = { noun: 'debit', verb: 'reverse', id: facts.uuid, at: NOON, by: 'local:ama' }
  return reverseDebit({ reference: facts.reference, reason: 'Dispute' }, author, still())
}

test('a completed event whose record was lost is published, though settlement or a reversal is first', async () => {
  // The sweep has been down for two hours before noon.
  await sweptUntil(-7_200)
  const [reversed, settled] = [1, 2].map(() => completedDebit(provider, inSeconds(-7_000)))
  if (!reversed || !settled) throw new Error('No debit')
  await reverse(reversed)
  const building = { batch: batch(), isNew: true }
  const entries = [{ debit: settled, line: debitLine(settled, undefined) }]
  const reached = sweptBefore(await findSweepProgress(), provider)
  const beginning = { lane: 0, chunk: 0, lines: 0 }
  await addLines(building, beginning, { entries, sweptBefore: reached }, still())
  await runFrom(10, 5)
  const expected = [...eventsOf([reversed], 5), ...eventsOf([settled])].sort()
  expect(await published(provider)).toEqual(expected)
})

test('the lost webhook of a completed batch is due, though its event is in the feed', async () => {
  await sweptUntil(-600)
  await storeWebhook(provider, { ...webhook, events: ['settlement.completed'] })
  const completedAt = inSeconds(-500)
  const done = batch({ status: 'completed', processedAt: completedAt, completedAt })
  insert(JSON.parse(JSON.stringify(toBatchItem(done))))
  const event = { reference: done.id as string as Reference, n: SETTLED }
  await appendToFeed(provider, [event], NOON)
  await run(NOON)
  expect(await findDelivery(event.reference, SETTLED)).toMatchObject({ event: 'settled' })
})

test('a debit whose event cannot be delivered before its reversal stays completed', async () => {
  await sweptUntil(-600)
  await storeWebhook(provider, webhook)
  const debit = completedDebit(provider, inSeconds(-500))
  aroundTableCalls((_, next, text) =>
    text().includes('"entity":"delivery"') ? Promise.reject(new Error('throttled')) : next(),
  )
  await expect(reverse(debit)).rejects.toThrow('could not be repaired')
  expect(await findDebit(debit.facts.reference)).toMatchObject({ status: 'completed' })
})

test('an open debit whose events cannot be repaired is followed, due in the next run', async () => {
  await sweptUntil(-600)
  const debit = write(pendingDebit({ provider }, inSeconds(-400)))
  const page = { ...keys.feedPage(provider, 1), entity: 'feed-page', page: 1 }
  insert({ ...page, entries: 'no list', lastAt: 1 })
  await run(NOON)
  const due = inSeconds(30).toISOString()
  expect(await itemOf(debit)).toMatchObject({ byStatus: 'demo#open', due })
})

test('the events of a debit that is reversed within two minutes are published after the reversal', async () => {
  await sweptUntil(-600)
  const debit = completedDebit(provider, inSeconds(-90))
  await reverse(debit)
  await runFrom(10, 5)
  expect(await published(provider)).toEqual(eventsOf([debit], 5))
})

test.each([
  ['completed three days ago', [3], -3 * DAY_SECONDS, false],
  ['completed a second earlier', [], -3 * DAY_SECONDS - 1, false],
  ['reversed an hour after its completion', [3], -3_600, true],
  ['reversed a second later than that', [], -3_601, true],
])('the repair of a debit %s publishes the events %j', async (_, events, seconds, isReversed) => {
  await sweptUntil(0)
  const completed = completedDebit(provider, inSeconds(seconds - 30))
  const debit = isReversed ? granted(await reverse(completed)) : completed
  await gathered(() => repair(provider, [{ debit, deliveries: [] }], NOON))
  expect(await published(provider)).toEqual(events.map((n) => `${debit.facts.reference}#${n}`))
})
