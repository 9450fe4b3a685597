import { beforeAll, expect, test } from 'vitest'
import { pesewas } from '../../shared/domain/money.ts'
import { real } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { keys } from '../../shared/store/keys.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findBatches, listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { read } from '../../shared/store/table.ts'
import { NOON, still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { at, complete, completedDebits, dayAt, newProvider, openedDebit } from './one-provider.ts'
import { readBooks } from './raw-items.ts'
import { useReportShelf } from './report-shelf.ts'

/** Tests the fields of a batch that its lines decide, and those that decide its lines. */

beforeAll(useFreshTable)
useReportShelf()

const runtime = still({ now: () => at('00:00:01', 2) })
const date = dayAt(2)

test('a sealed batch names the day of its earliest completion', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [10_00], at('12:00:00', 1))
  await completedDebits(provider, [20_00], at('23:59:59'))
  const { batches } = await buildBatch({ provider, date }, runtime, () => false)
  expect(await findBatches(batches)).toMatchObject([{ completedFrom: dayAt(0) }])
})

test('a batch that is being built names no day yet', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [10_00], at('12:00:00', 1))
  await buildBatch({ provider, date }, runtime, () => true)
  expect(await listBatchesOfDay(provider, date)).toMatchObject([{ completedFrom: null }])
})

test('all lines of a batch follow the schedule of its opening; the next batch follows the new one', async () => {
  const before = { basisPoints: 100, fixed: pesewas(0) }
  const after = { basisPoints: 500, fixed: pesewas(0) }
  const provider = await newProvider({ feeSchedule: before })
  const late = await openedDebit(provider, 100_00)
  await completedDebits(provider, [100_00], at('12:00:00'))
  await buildBatch({ provider, date }, runtime, () => true)
  await changeProvider(
    provider,
    (now) => ({
      ...(now as NonNullable<typeof now>),
      feeSchedule: after,
    }),
    noWrites,
    real,
  )
  await complete(late, at('13:00:00'))
  const [first] = (await buildBatch({ provider, date }, runtime, () => false)).batches
  await completedDebits(provider, [100_00], at('14:00:00'))
  const [second] = (await buildBatch({ provider, date }, runtime, () => false)).batches
  expect(await listBatchesOfDay(provider, date)).toMatchObject([
    { id: first, feeSchedule: before, totals: { debits: 2, fee: 2_00 } },
    { id: second, feeSchedule: after, totals: { debits: 1, fee: 5_00 } },
  ])
  const { lines } = await readBooks([provider])
  expect(lines.map(({ fee }) => fee).sort()).toEqual([100n, 100n, 500n])
})

test('a completion that a slow clock dates before its debit waits where settlement looks for it', async () => {
  const provider = await newProvider()
  const debit = await openedDebit(provider, 10_00)
  // The debit was created at noon of the day before, by the clock of the charge.
  await complete(debit, new Date(NOON.getTime() - 1_000))
  const item = await read<{ due: string }>(keys.debit(debit.facts.reference))
  expect(item?.due).toBe(NOON.toISOString())
})
