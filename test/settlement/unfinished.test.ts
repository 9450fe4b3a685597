import { beforeAll, expect, test } from 'vitest'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listUnfinished } from '../../shared/settlement/unfinished.ts'
import { useFreshTable } from '../support/tables.ts'
import { at, completedDebits, dayAt, newProvider, runtimeAt } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

beforeAll(useFreshTable)
useReportShelf()

const date = dayAt(1)
const runtime = runtimeAt('00:00:01')

test('a provider is unfinished from its first debit of the day before to the reports of its batch', async () => {
  const provider = await newProvider()
  const idle = await newProvider()
  expect(await listUnfinished(date)).toEqual([])
  await completedDebits(provider, [10_00, 20_00], at('23:59:59.999'))
  await completedDebits(idle, [10_00], at('00:00:00', 1))
  expect(await listUnfinished(date)).toEqual([provider])

  const { isDone } = await buildBatch({ provider, date, timeIsUp: () => true }, runtime)
  expect(isDone).toBe(false)
  // All debits have lines, but the batch is still open.
  expect(await listUnfinished(date)).toEqual([provider])

  await buildBatch({ provider, date }, runtime)
  expect(await listUnfinished(date)).toEqual([])
})
