import { beforeAll, expect, test } from 'vitest'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listUnfinished } from '../../shared/settlement/unfinished.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { at, completedDebits, dayAt, newProvider } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** For whom a night has left something, as it is asked at two o'clock. */

beforeAll(useFreshTable)
useReportShelf()

const runtime = still({ now: () => at('00:00:01', 1) })
const unfinished = () => listUnfinished(dayAt(1))

test('a provider is unfinished from its first debit of the day before to the reports of its batch', async () => {
  const provider = await newProvider()
  const idle = await newProvider()
  expect(await unfinished()).toEqual([])
  await completedDebits(provider, [10_00, 20_00], at('23:59:59.999'))
  await completedDebits(idle, [10_00], at('00:00:00', 1))
  expect(await unfinished()).toEqual([provider])

  const building = { provider, date: dayAt(1) }
  const { isDone } = await buildBatch(building, runtime, () => true)
  expect(isDone).toBe(false)
  // Nothing waits for a line any more, but the batch is open yet.
  expect(await unfinished()).toEqual([provider])

  await buildBatch(building, runtime, () => false)
  expect(await unfinished()).toEqual([])
})
