import { beforeAll, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { complaintsOf } from './invariants.ts'
import { at, completedDebits, dayAt, newProvider } from './one-provider.ts'
import { readBooks } from './raw-items.ts'
import { useReportShelf } from './report-shelf.ts'

/** Tests that a day of any size is settled in batches that can be reported. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const date = dayAt(1)
const runtime = still({ now: () => at('00:00:01', 1) })

const build = (provider: ProviderId, { isCut = false, linesMax = 50 } = {}) =>
  buildBatch({ provider, date, linesMax }, runtime, () => isCut)

const some = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

const countsOf = async (provider: ProviderId) => {
  expect(complaintsOf(await readBooks([provider]))).toEqual([])
  expect(shelf.differing).toEqual([])
  const batches = await listBatchesOfDay(provider, date)
  return batches.map(({ n, totals, reportedAt }) => [n, reportedAt ? totals?.count : undefined])
}

describe('a batch takes a limited number of lines', () => {
  test('and the next one of the day takes the others', async () => {
    const provider = await newProvider()
    await some(provider, 120)
    const { isDone, batches } = await build(provider)
    expect([isDone, batches.length]).toEqual([true, 3])
    expect(await countsOf(provider)).toEqual([
      [1, 50],
      [2, 50],
      [3, 20],
    ])
  })

  test('also when its lines fill it exactly: no empty batch follows', async () => {
    const provider = await newProvider()
    await some(provider, 100)
    await build(provider)
    expect(await countsOf(provider)).toEqual([
      [1, 50],
      [2, 50],
    ])
  })

  test('across runs that are cut off', async () => {
    const provider = await newProvider()
    // A run that is cut off ends after the ninety debits of one read.
    await some(provider, 200)
    for (let run = 1; run <= 2; run += 1) {
      expect(await build(provider, { isCut: true, linesMax: 70 })).toMatchObject({ isDone: false })
    }
    await build(provider, { linesMax: 70 })
    expect(await countsOf(provider)).toEqual([
      [1, 70],
      [2, 70],
      [3, 60],
    ])
  })

  test('and a full batch that a dead worker left open takes no more', async () => {
    const provider = await newProvider()
    await some(provider, 40)
    await build(provider, { isCut: true, linesMax: 100 })
    await some(provider, 10)
    await build(provider, { linesMax: 40 })
    expect(await countsOf(provider)).toEqual([
      [1, 40],
      [2, 10],
    ])
  })
})
