import { expect, onTestFinished, test } from 'vitest'
import { completedDay } from '../../proofs/bench/completed-day.ts'
import { timedDay } from '../../proofs/bench/timed-calls.ts'
import type { Line } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type BuildRequest, buildBatch } from '../../shared/settlement/build.ts'
import { laneOf } from '../../shared/settlement/lanes.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { linesOf } from '../../shared/store/settlement/lines.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

const NIGHT = new Date('2026-11-22T00:00:05.000Z')
const date = dayOf(NIGHT)
const COUNT = 1_960

/** Stores a day and returns its builders on a virtual clock. */
const largeDay = (count = COUNT, options: Partial<BuildRequest> = {}) => {
  const calls = timedDay(count, NIGHT)
  const { provider } = calls
  const build = (more: Partial<BuildRequest> = {}, runtime = calls.runtime) =>
    buildBatch({ provider, date, dividesAfter: 98, ...options, ...more }, runtime)
  const batches = () => listBatchesOfDay(provider, date)
  return { ...calls, build, batches }
}

type LargeDay = ReturnType<typeof largeDay>

/** Runs one builder, and others when the day is divided. */
const runBuilders = async ({ build, whenContinued }: LargeDay, builders: number) => {
  const others: ReturnType<typeof build>[] = []
  whenContinued(100, () => {
    while (others.length < builders - 1) others.push(build())
  })
  const first = await build()
  return [first, ...(await Promise.all(others))]
}

const expectSettledOnce = async ({ batches, reports, ...day }: LargeDay): Promise<void> => {
  const lines: Line[] = []
  for (const { id, totals, reportedAt } of await batches()) {
    const ofBatch = await Array.fromAsync(linesOf(id))
    expect(totals?.count).toBe(ofBatch.length)
    expect(reportedAt).not.toBeNull()
    lines.push(...ofBatch)
  }
  const references = lines.map(({ reference }) => reference)
  expect(references.sort()).toEqual([...day.references].sort())
  expect([...reports.values()].map(({ uploads }) => uploads)).toEqual(
    Array((await batches()).length * 2).fill(1),
  )
}

test.each([1, 2, 3])('the %i builders of a day cancel no transactions', async (builders) => {
  const large = largeDay()
  const results = await runBuilders(large, builders)
  expect(results.some(({ isDone }) => isDone)).toBe(true)
  await expectSettledOnce(large)
  // A chunk alone, at most one partial chunk in each of eight lanes, and the seal.
  expect(large.counts.transactions).toBeLessThanOrEqual(COUNT / 98 + 8 + 1)
  expect(large.counts.cancelled).toBe(0)
  expect(large.counts.inFlightMax).toBe(builders === 1 ? 4 : 8)
})

test('a batch that is full is sealed once while builders fill the next one', async () => {
  const large = largeDay(8_000, { linesMax: 6_400 })
  await runBuilders(large, 2)
  await expectSettledOnce(large)
  const batches = await large.batches()
  expect(batches.length).toBeGreaterThan(1)
  for (const { totals } of batches) expect(totals?.count).toBeLessThanOrEqual(6_400)
})

test('a builder whose leases expired and the next one settle each debit once', async () => {
  const large = largeDay()
  const late = { ...large.runtime, now: () => new Date(large.runtime.now().getTime() + 3_600_000) }
  large.whenContinued(100, () => undefined)
  const results = await Promise.all([large.build(), large.build({}, late), large.build({}, late)])
  expect(results.map(({ isDone }) => isDone)).toContain(true)
  expect(large.counts.cancelled).toBeGreaterThan(0)
  await expectSettledOnce(large)
})

test('the builders of a day settle each debit once when each of their writes is repeated after a lost response', async () => {
  const large = largeDay()
  const restore = aroundTableCalls(async (name, next) => {
    if (name === 'Put' || name === 'Delete') await next()
    return next()
  })
  onTestFinished(restore)
  const results = await runBuilders(large, 2)
  expect(results.some(({ isDone }) => isDone)).toBe(true)
  await expectSettledOnce(large)
})

test('the builders that a time limit ends leave each lane to the next one', async () => {
  const large = largeDay(COUNT, { linesMax: 800 })
  const runs: ReturnType<typeof large.build>[] = []
  const run = () => {
    const end = large.elapsed() + 200
    runs.push(large.build({ timeIsUp: () => large.elapsed() >= end }))
  }
  large.whenContinued(100, run)
  run()
  while (!(await Promise.all(runs)).some(({ isDone }) => isDone)) await large.runtime.pause(50)
  expect(runs.length).toBeGreaterThan(3)
  await expectSettledOnce(large)
})

// Three of them are the mark: two of an update in a transaction, and one of the index entry that it removes.
test.each([
  [1, 21, 0.4],
  [10, 4.8, 0.4],
  [98, 3.35, 0.4],
  [1_000, 3.23, 1.9],
  [10_000, 3.23, 4.7],
])(
  'a batch of %i debits costs at most %d write units each and %d s, and leaves a fifth of the writes of each key of an index to live completions',
  async (...row) => {
    const [count, units, seconds] = row
    const large = largeDay(count, { dividesAfter: 1_000 })
    await putSweepProgress({ until: NIGHT, behind: new Map() })
    const seeded = large.units.write
    large.partitions.forget()
    await runBuilders(large, 2)
    expect((large.units.write - seeded) / count).toBeLessThanOrEqual(units)
    expect(large.elapsed() / 1_000).toBeLessThanOrEqual(seconds)
    expect(large.partitions.busiest.index).toBeLessThanOrEqual(800)
  },
)

test('a debit has one of eight lanes, and each lane has as many debits', () => {
  const counts = Array<number>(8).fill(0)
  for (const reference of completedDay(36 ** 2 * 2).references) {
    counts[laneOf(reference, 8)] = (counts[laneOf(reference, 8)] ?? 0) + 1
  }
  expect(new Set(counts)).toEqual(new Set([36 ** 2 / 4]))
})
