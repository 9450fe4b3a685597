import { beforeAll, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { useFreshTable } from '../support/tables.ts'
import { readBooks, violationsIn } from './books.ts'
import { beforeCalls, type Call, intercept } from './intercept.ts'
import { at, completedDebits, dayAt, newProvider, reverse, runtimeAt } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** Forces interleavings of concurrent runs for one provider and day. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const runtime = runtimeAt('00:00:01')

const run = (provider: ProviderId, { isInterrupted = false } = {}) =>
  buildBatch({ provider, date: dayAt(1), timeIsUp: () => isInterrupted }, runtime)

const addDebits = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

const reportedCounts = async (provider: ProviderId) => {
  expect(violationsIn(await readBooks(provider))).toEqual([])
  const batches = await listBatchesOfDay(provider, dayAt(1))
  return batches.map(({ totals, reportedAt }) => reportedAt && totals?.count)
}

test('four concurrent runs settle each debit once, and the next run settles the rest', async () => {
  const provider = await newProvider()
  await addDebits(provider, 100)
  // A run may fail, as it does when the table does not reply in time.
  await Promise.allSettled([1, 2, 3, 4].map(() => run(provider)))
  await run(provider)
  const counts = await reportedCounts(provider)
  expect(counts.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(100)
  expect(shelf.differing).toEqual([])
})

test('debits that a run has not added when another run seals the batch are in the next batch', async () => {
  const provider = await newProvider()
  await addDebits(provider, 60)
  // Between the two transactions, another run settles the rest and seals the batch.
  const seal = async (index: number) => {
    if (index !== 1) return
    await run(provider)
    await addDebits(provider, 5)
  }
  const isWrite = (call: Call) => call.isWrite
  await intercept(beforeCalls(isWrite, seal), () => run(provider))
  await run(provider)
  expect(await reportedCounts(provider)).toEqual([60, 5])
})

test('a batch never has both the line of a debit and its adjustment', async () => {
  const provider = await newProvider()
  await addDebits(provider, 1)
  await run(provider, { isInterrupted: true })
  // Seals the batch that the run has found, and reverses a debit of the next one.
  const seal = async (index: number) => {
    if (index > 0) return
    await run(provider)
    const [debit] = await addDebits(provider, 1)
    await run(provider, { isInterrupted: true })
    if (debit) await reverse(debit.facts.reference, at('23:59:59'))
  }
  const isQuery = ({ name }: Call) => name === 'QueryCommand'
  await intercept(beforeCalls(isQuery, seal), () => run(provider))
  expect(await reportedCounts(provider)).toEqual([1, 1])
  await buildBatch({ provider, date: dayAt(2) }, runtime)
  const { lines } = await readBooks(provider)
  expect(lines.map(({ type }) => type).sort()).toEqual(['adjustment', 'debit', 'debit'])
})
