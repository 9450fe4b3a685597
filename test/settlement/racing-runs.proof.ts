import { beforeAll, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { complaintsOf } from './invariants.ts'
import { aside, beforeWrites, meeting } from './meeting.ts'
import { at, completedDebits, dayAt, newProvider, reverse } from './one-provider.ts'
import { readBooks } from './raw-items.ts'
import { useReportShelf } from './report-shelf.ts'

/** Runs of one provider and day that meet each other. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const runtime = still({ now: () => at('00:00:01', 1) })

const run = (provider: ProviderId, { isCut = false } = {}) =>
  buildBatch({ provider, date: dayAt(1) }, runtime, () => isCut)

const some = (provider: ProviderId, count: number) =>
  completedDebits(provider, Array(count).fill(10_00), at('09:00:00'))

const sumsOf = async (provider: ProviderId) => {
  expect(complaintsOf(await readBooks([provider]))).toEqual([])
  const batches = await listBatchesOfDay(provider, dayAt(1))
  return batches.map(({ totals, reportedAt }) => reportedAt && totals?.count)
}

test('four at once settle each debit once, and what they leave, the next', async () => {
  const provider = await newProvider()
  await some(provider, 100)
  // One that gives up, as on a table that does not answer in time, leaves its work to another.
  await Promise.allSettled([1, 2, 3, 4].map(() => run(provider)))
  await run(provider)
  const counts = await sumsOf(provider)
  expect(counts.reduce<number>((sum, count) => sum + Number(count), 0)).toBe(100)
  expect(shelf.differing).toEqual([])
})

test('what one has not added when another seals the batch is in the next of that day', async () => {
  const provider = await newProvider()
  await some(provider, 60)
  // The other comes between the first chunk and the second, and takes what is left.
  const sealing = beforeWrites(async (write) => {
    if (write !== 1) return
    await run(provider)
    await some(provider, 5)
  })
  await meeting(sealing, () => run(provider))
  await run(provider)
  expect(await sumsOf(provider)).toEqual([60, 5])
})

test('no batch takes back what it gives, whatever it was when the run began', async () => {
  const provider = await newProvider()
  await some(provider, 1)
  await run(provider, { isCut: true })
  let isSealed = false
  // The batch that the run has found is sealed; the next one has a line by now, to be taken back.
  const meanwhile = async () => {
    isSealed = true
    await run(provider)
    const [debit] = await some(provider, 1)
    await run(provider, { isCut: true })
    if (debit) await reverse(debit.facts.reference, at('23:59:59'))
  }
  await meeting(
    async ({ name }, go) => {
      if (name === 'QueryCommand' && !isSealed) await aside(meanwhile)
      return go()
    },
    () => run(provider),
  )
  expect(await sumsOf(provider)).toEqual([1, 1])
  await buildBatch({ provider, date: dayAt(2) }, runtime, () => false)
  const { lines } = await readBooks([provider])
  expect(lines.map(({ type }) => type).sort()).toEqual(['adjustment', 'debit', 'debit'])
})
