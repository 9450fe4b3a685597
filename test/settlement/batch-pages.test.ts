import { beforeEach, expect, test } from 'vitest'
import { manageSettlement } from '../../functions/operator/manage-settlement.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Batch, noTotals } from '../../shared/domain/settlement/batch.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { put } from '../../shared/store/table.ts'
import type { Shown } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import { at, dayAt, newProvider, runtimeAt } from './one-provider.ts'
import { batch } from './report/one-batch.ts'

/** The list of batches in a status (`settlement list --status`). */

const PAID = 300

const net = (amount: number) => ({ ...noTotals, net: pesewas(amount) })
const ready = { totals: net(100), reportedAt: at('00:00:03') }

/** A batch in each state, of two providers. */
const states: readonly Partial<Batch>[] = [
  { sealedAt: null },
  { totals: net(100) },
  ready,
  { ...ready, totals: net(-100) },
  { ...ready, status: 'processing', processedAt: at('01:00:00') },
  { ...ready, status: 'failed', failedAt: at('02:00:00') },
  { ...ready, status: 'completed', completedAt: at('03:00:00') },
]

let [acme, other] = [] as unknown as [ProviderId, ProviderId]

const store = async (provider: ProviderId, day: number, state: Partial<Batch>): Promise<void> => {
  const id = `STL-${day}-${provider}-${JSON.stringify(state).length}` as BatchId
  const stored = batch({ id, provider, date: dayAt(day), ...state })
  await put(keys.batch(id), 'batch', toBatchItem(stored))
}

beforeEach(async () => {
  await useFreshTable()
  acme = await newProvider()
  other = await newProvider()
  for (const [n, state] of states.entries()) {
    await store(acme, n, state)
    await store(other, n, state)
  }
})

const list = async (options: Record<string, string>): Promise<Shown> =>
  manageSettlement(runtimeAt('12:00:00', 9))({ verb: 'list', options, actor: 'local:ama' })

const pages = async (options: Record<string, string>, cursor?: string): Promise<string[]> => {
  const { result, next_cursor } = await list({ ...options, ...(cursor && { cursor }) })
  const rest = next_cursor ? await pages(options, next_cursor) : []
  return [...result.map(({ id }: Shown) => id), ...rest]
}

test.each([
  ['pending', 8],
  ['processing', 2],
  ['failed', 2],
  ['completed', 2],
])(
  'the batches in the status %s are those of the whole list, in its order',
  async (status, count) => {
    const { result: all } = await list({})
    const idsOf = (some: Shown[]): string[] => some.map(({ id }) => id)
    const expected = all.filter((one: Shown) => one.status === status)
    expect(expected).toHaveLength(count)
    expect((await list({ status })).result).toEqual(expected)
    expect(await pages({ status, limit: '1' })).toEqual(idsOf(expected))
    const own = expected.filter(({ provider }: Shown) => provider === acme)
    expect((await list({ status, provider: acme })).result).toEqual(own)
    const [{ date }] = own
    const ofDay = expected.filter((one: Shown) => one.date === date)
    expect((await list({ status, from: date, to: date })).result).toEqual(ofDay)
  },
)

test('the list of failed batches reads no completed ones', async () => {
  for (let day = 10; day < 10 + PAID; day += 1) await store(acme, day, states[6] ?? {})
  let reads = 0
  aroundTableCalls(async (name, next) => {
    reads += name === 'BatchGet' ? 1 : 0
    return next()
  })
  const { result } = await list({ status: 'failed' })
  expect([result.length, reads]).toEqual([2, 1])
})
