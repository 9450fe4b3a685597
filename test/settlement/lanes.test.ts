import { expect, test } from 'vitest'
import { completedDay } from '../../proofs/bench/completed-day.ts'
import { laneOf } from '../../shared/settlement/lanes.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { COUNT, expectSettledOnce, largeDay, runBuilders } from './large-day.ts'

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
  aroundTableCalls(async (name, next) => {
    if (name === 'Put' || name === 'Delete') await next()
    return next()
  })
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

test('each batch of a divided day has eight lanes', async () => {
  const large = largeDay(COUNT, { linesMax: 800 })
  await runBuilders(large, 1)
  const batches = await large.batches()
  expect(batches.length).toBeGreaterThan(1)
  expect(new Set(batches.map(({ lanes }) => lanes))).toEqual(new Set([8]))
})

test('a debit has one of eight lanes, and each lane has as many debits', () => {
  const counts = Array<number>(8).fill(0)
  for (const reference of completedDay(36 ** 2 * 2).references) {
    counts[laneOf(reference, 8)] = (counts[laneOf(reference, 8)] ?? 0) + 1
  }
  expect(new Set(counts)).toEqual(new Set([36 ** 2 / 4]))
})
