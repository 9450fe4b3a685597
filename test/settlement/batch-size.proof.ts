import { beforeAll, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { useFreshTable } from '../support/tables.ts'
import { readBooks, violationsIn } from './books.ts'
import { beforeCalls, intercept, isTransaction } from './intercept.ts'
import { at, completedDebits, dayAt, newProvider, runtimeAt } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

beforeAll(useFreshTable)
const shelf = useReportShelf()

const date = dayAt(1)
const runtime = runtimeAt('00:00:01')

const build = (provider: ProviderId, { isInterrupted = false, linesMax = 50 } = {}) =>
  buildBatch({ provider, date, linesMax, timeIsUp: () => isInterrupted }, runtime)

const addDebits = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

/** Returns the line counts of the reported batches of the day, in order. */
const countsOf = async (provider: ProviderId) => {
  expect(violationsIn(await readBooks(provider))).toEqual([])
  expect(shelf.differing).toEqual([])
  const batches = await listBatchesOfDay(provider, date)
  expect(batches.map(({ n }) => n)).toEqual(batches.map((_, index) => index + 1))
  return batches.map(({ totals, reportedAt }) => (reportedAt ? totals?.count : undefined))
}

// A transaction takes 100 writes: 45 lines, 45 debits and the batch.
describe('the transactions of a batch', () => {
  test.each([
    [0, 0],
    [1, 1],
    [45, 1],
    [46, 2],
    [90, 2],
    [91, 3],
    [200, 5],
  ])('%i debits take %i transactions', async (count, expected) => {
    const provider = await newProvider()
    await addDebits(provider, count)
    const buildAndCount = async () => {
      let transactions = 0
      const count = beforeCalls(isTransaction, () => {
        transactions += 1
      })
      const result = await intercept(count, () => buildBatch({ provider, date }, runtime))
      return { ...result, transactions }
    }
    const { batches, ...result } = await buildAndCount()
    expect(result).toEqual({ isDone: true, transactions: expected })
    expect(await countsOf(provider)).toEqual(count === 0 ? [] : [count])
    const report = shelf.reports.get(`settlements/${provider}/${batches[0]}.csv`)
    // With the header and the sums.
    expect(report?.trimEnd().split('\r\n').length).toBe(count === 0 ? undefined : count + 2)
    expect(await buildAndCount()).toEqual({ batches: [], isDone: true, transactions: 0 })
  })
})

describe('the largest number of lines of a batch', () => {
  test.each([
    ['the next batch of the day takes the rest', 120, [50, 50, 20]],
    ['no empty batch follows a batch that is exactly full', 100, [50, 50]],
  ])('%s', async (_, count, expected) => {
    const provider = await newProvider()
    await addDebits(provider, count)
    const { isDone, batches } = await build(provider)
    expect([isDone, batches.length]).toEqual([true, expected.length])
    expect(await countsOf(provider)).toEqual(expected)
  })

  test('interrupted runs fill the same batches', async () => {
    const provider = await newProvider()
    // An interrupted run ends after the 90 debits of one read.
    await addDebits(provider, 200)
    for (let run = 1; run <= 2; run += 1) {
      const result = await build(provider, { isInterrupted: true, linesMax: 70 })
      expect(result).toMatchObject({ isDone: false })
    }
    await build(provider, { linesMax: 70 })
    expect(await countsOf(provider)).toEqual([70, 70, 60])
  })

  test('a full batch that a crashed worker left open gets no more lines', async () => {
    const provider = await newProvider()
    await addDebits(provider, 40)
    await build(provider, { isInterrupted: true, linesMax: 100 })
    await addDebits(provider, 10)
    await build(provider, { linesMax: 40 })
    expect(await countsOf(provider)).toEqual([40, 10])
  })
})
