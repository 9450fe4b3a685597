import { beforeAll, describe, expect, test } from 'vitest'
import { buildBatch } from '../../shared/settlement/build.ts'
import { findBatches } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { complaintsOf } from './invariants.ts'
import { meeting } from './meeting.ts'
import { at, completedDebits, dayAt, newProvider } from './one-provider.ts'
import { readBooks } from './raw-items.ts'
import { useReportShelf } from './report-shelf.ts'

/** A transaction takes a hundred writes: 45 lines, their debits, and their batch. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const date = dayAt(1)
const runtime = still({ now: () => at('00:00:01', 1) })

/** Has the batch of a provider built, and counts the transactions that it took. */
const build = async (provider: Awaited<ReturnType<typeof newProvider>>) => {
  let transactions = 0
  const built = await meeting(
    async ({ name }, go) => {
      if (name.startsWith('TransactWrite')) transactions += 1
      return go()
    },
    () => buildBatch({ provider, date }, runtime, () => false),
  )
  return { ...built, transactions }
}

describe('debits of one batch', () => {
  test.each([
    [0, 0],
    [1, 1],
    [44, 1],
    [45, 1],
    [46, 2],
    [90, 2],
    [91, 3],
    [200, 5],
  ])('%i: %i transactions', async (count, transactions) => {
    const provider = await newProvider()
    const amounts = Array.from({ length: count }, (_, n) => 1_00 + n)
    await completedDebits(provider, amounts, at('09:00:00'))
    const built = await build(provider)
    expect(built).toMatchObject({ isDone: true, transactions })
    const [batch, ...others] = await findBatches(built.batches)
    expect(others).toEqual([])
    const gross = amounts.reduce((sum, amount) => sum + amount, 0)
    expect(batch?.totals ?? null).toEqual(
      count === 0 ? null : { count, debits: count, gross, fee: 0, adjustments: 0, net: gross },
    )
    const books = await readBooks([provider])
    expect(books.lines).toHaveLength(count)
    expect(complaintsOf(books)).toEqual([])
    const report = shelf.reports.get(`settlements/${provider}/${batch?.id}.csv`)
    // A header and a last record with the sums.
    expect(report?.trimEnd().split('\r\n').length).toBe(count === 0 ? undefined : count + 2)
    // What is settled is not settled again, and an empty batch is none.
    expect(await build(provider)).toEqual({ batches: [], isDone: true, transactions: 0 })
  })
})
