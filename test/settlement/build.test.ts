import { beforeEach, expect, test } from 'vitest'
import { refundCustomer } from '../../functions/jobs/refund-customer.ts'
import { type Refund, sendRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listUnfinished } from '../../shared/settlement/unfinished.ts'
import { findRefund, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatches, listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import {
  acquireLanes,
  completeBuild,
  divideLanes,
  findBuild,
  releaseLanes,
} from '../../shared/store/settlement/build-lease.ts'
import { addLines, findLaneEnd, linesOf } from '../../shared/store/settlement/lines.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { put, read } from '../../shared/store/table.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { NOON, providerId, still } from '../support/examples.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import { gathered, take, useQueues } from './messages-sent.ts'
import {
  at,
  builtBatch,
  complete,
  completedDebit,
  completedDebits,
  dayAt,
  newProvider,
  openedDebit,
  reverse,
  runtimeAt,
  updateProvider,
} from './one-provider.ts'
import { batch } from './report/one-batch.ts'
import { useReportShelf } from './report-shelf.ts'

beforeEach(useFreshTable)
useQueues()
useReportShelf()

const date = dayAt(2)

const build = (provider: ProviderId, { isInterrupted = false, linesMax = 200_000 } = {}) =>
  buildBatch({ provider, date, linesMax, timeIsUp: () => isInterrupted }, runtimeAt('00:00:01', 2))

const addDebits = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

test('a batch names the day of its earliest completion once it is sealed', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [10_00], at('12:00:00', 1))
  await completedDebits(provider, [20_00], at('23:59:59'))
  await build(provider, { isInterrupted: true })
  expect(await listBatchesOfDay(provider, date)).toMatchObject([{ completedFrom: null }])
  const { batches } = await build(provider)
  expect(await findBatches(batches)).toMatchObject([{ completedFrom: dayAt(0) }])
})

test('all lines of a batch follow the fee schedule at its opening, and the next batch follows the new one', async () => {
  const previous = { basisPoints: 100, fixed: pesewas(0) }
  const next = { basisPoints: 500, fixed: pesewas(0) }
  const provider = await newProvider({ feeSchedule: previous })
  const late = await openedDebit(provider, 100_00)
  await completedDebits(provider, [100_00], at('12:00:00'))
  await build(provider, { isInterrupted: true })
  await updateProvider(provider, { feeSchedule: next })
  await complete(late, at('13:00:00'))
  const [first] = (await build(provider)).batches
  await completedDebits(provider, [100_00], at('14:00:00'))
  const [second] = (await build(provider)).batches
  expect(await listBatchesOfDay(provider, date)).toMatchObject([
    { id: first, feeSchedule: previous, totals: { debits: 2, fee: 2_00 } },
    { id: second, feeSchedule: next, totals: { debits: 1, fee: 5_00 } },
  ])
  const lines = first ? await Array.fromAsync(linesOf(first)) : []
  expect(lines.map(({ fee }) => fee)).toEqual([1_00, 1_00])
})

test('a completion that a slow clock dates before its debit is listed as unsettled from the creation on', async () => {
  const debit = await openedDebit(await newProvider(), 10_00)
  // The clock of the charge has dated the debit at noon.
  await complete(debit, new Date(NOON.getTime() - 1_000))
  const item = await read<{ due: string }>(keys.debit(debit.facts.reference))
  expect(item?.due).toBe(NOON.toISOString())
})

const countsOf = async (provider: ProviderId) =>
  (await listBatchesOfDay(provider, date)).map(({ n, totals, reportedAt }) => [
    n,
    reportedAt && totals?.count,
  ])

// An interrupted run ends after one page of debits.
test.each([
  ['no empty batch follows a full one', { debits: 100, linesMax: 50, runs: 1 }, [50, 50]],
  ['interrupted runs fill the same batches', { debits: 200, linesMax: 70, runs: 3 }, [70, 70, 60]],
])('a batch has at most linesMax lines: %s', async (_, { debits, linesMax, runs }, counts) => {
  const provider = await newProvider()
  await addDebits(provider, debits)
  for (let run = 1; run <= runs; run += 1) {
    const { isDone } = await build(provider, { isInterrupted: run < runs, linesMax })
    expect(isDone).toBe(run === runs)
  }
  expect(await countsOf(provider)).toEqual(counts.map((count, index) => [index + 1, count]))
  expect(await build(provider)).toEqual({ batches: [], isDone: true })
})

test('an open batch that is already full gets no more lines', async () => {
  const provider = await newProvider()
  await addDebits(provider, 40)
  await build(provider, { isInterrupted: true })
  await addDebits(provider, 10)
  await build(provider, { linesMax: 40 })
  expect(await countsOf(provider)).toEqual([
    [1, 40],
    [2, 10],
  ])
})

test('a debit that is reversed while its batch is open is taken back in the next batch', async () => {
  const provider = await newProvider()
  const { facts } = await completedDebit(provider, 10_00, at('12:00:00'))
  await build(provider, { isInterrupted: true })
  // A slow clock dates it before the day of the batch.
  await reverse(facts.reference, at('23:59:59', 1))
  await build(provider)
  await build(provider)
  expect(await listBatchesOfDay(provider, date)).toMatchObject([
    { n: 1, totals: { debits: 1, adjustments: 0 } },
    { n: 2, totals: { debits: 0, adjustments: -10_00 } },
  ])
})

test('a debit that is reversed while its line is written leaves the other lines in the run', async () => {
  const provider = await newProvider()
  const [first] = await addDebits(provider, 3)
  const reversed = first?.facts.reference as Reference
  const restore = aroundTableCalls(async (name, next) => {
    if (name !== 'TransactWrite') return next()
    restore()
    await reverse(reversed, at('00:00:01', 2))
    return next()
  })
  await build(provider)
  expect(await listBatchesOfDay(provider, date)).toMatchObject([{ totals: { debits: 2 } }])
})

test('a build that fails releases its lanes, and leaves the next start to the sweep', async () => {
  const provider = await newProvider()
  await addDebits(provider, 2)
  const restore = aroundTableCalls((name, next) =>
    name === 'TransactWrite' ? Promise.reject(new Error('throttled')) : next(),
  )
  await expect(build(provider)).rejects.toThrow('throttled')
  restore()
  expect(await findBuild(provider, date)).toMatchObject({ leases: [], continuations: 0 })
  expect(await build(provider)).toMatchObject({ isDone: true })
})

test('a builder that wakes up late adds no lines to its batch, which another one has sealed', async () => {
  const provider = await newProvider()
  await completedDebit(provider, 10_00, at('12:00:00'))
  await build(provider, { isInterrupted: true })
  const [open] = await listBatchesOfDay(provider, date)
  if (!open) throw new Error('No batch')
  const end = await findLaneEnd(open.id, 0)
  await build(provider)
  const debit = await completedDebit(provider, 20_00, at('13:00:00'))
  const entries = [{ debit, line: debitLine(debit, null) }]
  const lines = { entries, sweptBefore: NOON }
  const added = await addLines({ batch: open, isNew: false }, end, lines, runtimeAt('00:10:00', 2))
  expect(added).toEqual({ kind: 'moved' })
  expect(await Array.fromAsync(linesOf(open.id))).toHaveLength(1)
})

test('a provider is unfinished from its first debit of the day before to the reports of its batch', async () => {
  const [provider, idle] = [await newProvider(), await newProvider()]
  expect(await listUnfinished(date)).toEqual([])
  await completedDebits(provider, [10_00, 20_00], at('23:59:59.999', 1))
  await completedDebits(idle, [10_00], at('00:00:00', 2))
  expect(await listUnfinished(date)).toEqual([provider])
  // All debits have lines, but the batch is still open.
  expect((await build(provider, { isInterrupted: true })).isDone).toBe(false)
  expect(await listUnfinished(date)).toEqual([provider])
  await build(provider)
  expect(await listUnfinished(date)).toEqual([])
})

test('the lease on the builds of a provider and day expires after fifteen minutes', async () => {
  const provider = await newProvider()
  const acquire = (time: string, day = date) =>
    acquireLanes({ provider, date: day }, runtimeAt(time))
  const expired = await acquire('00:00:01')
  expect(await acquire('00:15:00')).toBeUndefined()
  expect(await acquire('00:15:00', dayAt(3))).toBeDefined()
  const next = await acquire('00:15:01')
  if (!expired || !next) throw new Error('No lease')
  await releaseLanes(expired, { isContinued: true }, runtimeAt('00:15:02'))
  expect(await findBuild(provider, date)).toMatchObject({
    leases: [{ lane: 0, holder: next.holder }],
    continuations: 0,
  })
})

test('the sweep continues a divided day after the first of its leases', async () => {
  const day = { provider: await newProvider(), date }
  const first = await acquireLanes(day, runtimeAt('00:00:01'))
  if (!first) throw new Error('No lease')
  await divideLanes(first, runtimeAt('00:01:00'))
  await acquireLanes(day, runtimeAt('00:05:00'))
  const { due } = (await read<{ due: string }>(keys.build(day.provider, date))) ?? {}
  // Two minutes after the lease.
  expect(due).toBe(at('00:17:01', 1).toISOString())
})

// The progress of the sweep is in the table.
/** Returns the list and the due time of a debit in the work index. */
const workOf = async (reference: Parameters<typeof keys.debit>[0]) => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item?.work && `${String(item.work).split('#')[0]} ${item.due}`
}

test.each([
  ['23:57:59.999', undefined],
  ['23:58:00.000', 'WATCH 2026-11-23T00:00:00.000Z'],
  ['23:59:59.999', 'WATCH 2026-11-23T00:01:59.999Z'],
])('a debit completed at %s and swept until 23:58 has the work item %s', async (time, work) => {
  const provider = await newProvider()
  // Another provider is further behind.
  const behind = new Map([[providerId('other'), at('22:00:00')]])
  await putSweepProgress({ until: at('23:58:00'), behind })
  const { reference } = (await completedDebit(provider, 10_00, at(time))).facts
  expect(await workOf(reference)).toMatch(/^SETTLE/)
  await builtBatch(provider)
  expect(await workOf(reference)).toBe(work)
})

const BEGUN = at('00:00:05', 1)

/** Sweeps for two hours. Returns the minutes in which messages were sent, and the messages. */
const sweptTwoHours = async () => {
  const minutes: number[] = []
  const sent = new Set<string>()
  for (let minute = 0; minute <= 120; minute += 1) {
    const runtime = still({ now: () => new Date(BEGUN.getTime() + minute * 60_000) })
    const run = { runtime, restore: undefined, timeIsUp: () => false }
    const messages = await gathered(() => sweepOverdue(run))
    if (messages.length > 0) minutes.push(minute)
    for (const { queue, body } of messages) sent.add(`${queue} ${JSON.stringify(body)}`)
  }
  return { minutes, sent: [...sent] }
}

const DOUBLED = [2, 4, 8, 16, 32, 64]
const { id } = batch()

test.each<[string, Partial<Batch>, number[], string[]]>([
  [
    'that is in progress is sent again with doubled delays',
    { status: 'processing', processedAt: BEGUN, reportedAt: BEGUN },
    DOUBLED,
    [`payments {"batch":"${id}"}`],
  ],
  // A builder runs for up to 15 minutes.
  [
    'that is unsealed is sent again after the timeout of its function',
    { sealedAt: null, createdAt: BEGUN },
    [17, 34, 68],
    ['settlements {"provider":"demo","date":"2026-11-22"}'],
  ],
  ['that failed is not sent', { status: 'failed', failedAt: BEGUN, reportedAt: BEGUN }, [], []],
  ['that waits for the settlement run is not sent', { reportedAt: BEGUN }, [], []],
])('a lost message of a batch %s', async (_, state, minutes, sent) => {
  await put(keys.batch(id), 'batch', toBatchItem(batch(state)))
  expect(await sweptTwoHours()).toEqual({ minutes, sent })
})

test('a lost message of a refund is sent again with doubled delays until it ends', async () => {
  const debit = await completedDebit(await newProvider(), 10_00, at('09:00:00'))
  const { reference } = debit.facts
  await reverse(reference, BEGUN)
  const sent = [`refunds {"reference":"${reference}"}`]
  expect(await sweptTwoHours()).toEqual({ minutes: DOUBLED, sent })
  await take(refundCustomer(runtimeAt('03:00:00', 1)), 'refunds', { reference })
  expect(await sweptTwoHours()).toEqual({ minutes: [], sent: [] })
})

test('a refund that is sent again after three hours is due three hours later', async () => {
  const debit = await completedDebit(await newProvider(), 10_00, at('09:00:00'))
  const { reference } = debit.facts
  await reverse(reference, BEGUN)
  const hours = (count: number) => new Date(BEGUN.getTime() + count * 3_600_000)
  for (const time of [BEGUN, hours(3)]) {
    const refund = (await findRefund(reference)) as Refund
    await replaceRefund(refund, sendRefund(refund, time), [], still())
  }
  expect(await read(keys.refund(reference))).toMatchObject({ due: hours(6).toISOString() })
})

test('a builder whose lease has expired leaves the record of the next one', async () => {
  const day = { provider: providerId('leased'), date }
  const holderAt = async (time: string) => {
    const held = await acquireLanes(day, runtimeAt(time, 2))
    if (!held) throw new Error('No lane is free')
    return held
  }
  const [first, second] = [await holderAt('00:00:01'), await holderAt('00:15:01')]
  await completeBuild(first)
  const { holder } = second
  expect(await findBuild(day.provider, date)).toMatchObject({ leases: [{ holder }] })
  await completeBuild(second)
  expect(await findBuild(day.provider, date)).toBeUndefined()
})
