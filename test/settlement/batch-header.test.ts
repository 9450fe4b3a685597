import { beforeAll, expect, test } from 'vitest'
import { pesewas } from '../../shared/domain/money.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { keys } from '../../shared/store/keys.ts'
import { findBatches, listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { read } from '../../shared/store/table.ts'
import { NOON } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { readBooks } from './books.ts'
import {
  at,
  complete,
  completedDebits,
  dayAt,
  newProvider,
  openedDebit,
  runtimeAt,
  updateProvider,
} from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

beforeAll(useFreshTable)
useReportShelf()

const runtime = runtimeAt('00:00:01', 2)
const date = dayAt(2)

test('a sealed batch names the day of its earliest completion', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [10_00], at('12:00:00', 1))
  await completedDebits(provider, [20_00], at('23:59:59'))
  const { batches } = await buildBatch({ provider, date }, runtime)
  expect(await findBatches(batches)).toMatchObject([{ completedFrom: dayAt(0) }])
})

test('an open batch names no day', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [10_00], at('12:00:00', 1))
  await buildBatch({ provider, date, timeIsUp: () => true }, runtime)
  expect(await listBatchesOfDay(provider, date)).toMatchObject([{ completedFrom: null }])
})

test('all lines of a batch follow the fee schedule at its opening, and the next batch follows the new one', async () => {
  const previous = { basisPoints: 100, fixed: pesewas(0) }
  const next = { basisPoints: 500, fixed: pesewas(0) }
  const provider = await newProvider({ feeSchedule: previous })
  const late = await openedDebit(provider, 100_00)
  await completedDebits(provider, [100_00], at('12:00:00'))
  await buildBatch({ provider, date, timeIsUp: () => true }, runtime)
  await updateProvider(provider, { feeSchedule: next })
  await complete(late, at('13:00:00'))
  const [first] = (await buildBatch({ provider, date }, runtime)).batches
  await completedDebits(provider, [100_00], at('14:00:00'))
  const [second] = (await buildBatch({ provider, date }, runtime)).batches
  expect(await listBatchesOfDay(provider, date)).toMatchObject([
    { id: first, feeSchedule: previous, totals: { debits: 2, fee: 2_00 } },
    { id: second, feeSchedule: next, totals: { debits: 1, fee: 5_00 } },
  ])
  const { lines } = await readBooks(provider)
  expect(lines.map(({ fee }) => fee).sort()).toEqual([100, 100, 500])
})

test('a completion that a slow clock dates before its debit is listed as unsettled from the creation on', async () => {
  const provider = await newProvider()
  const debit = await openedDebit(provider, 10_00)
  // The clock of the charge has dated the debit at noon.
  await complete(debit, new Date(NOON.getTime() - 1_000))
  const item = await read<{ due: string }>(keys.debit(debit.facts.reference))
  expect(item?.due).toBe(NOON.toISOString())
})
