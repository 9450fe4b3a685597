import { beforeAll, expect, test } from 'vitest'
import { findSweepProgress, putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { inSeconds, NOON, providerId } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

test('the progress of the sweep is read back: none, within a span, at its end', async () => {
  expect(await findSweepProgress()).toBeUndefined()
  const within = { until: NOON, next: providerId('demo') }
  await putSweepProgress(within)
  expect(await findSweepProgress()).toEqual(within)
  const end = { until: inSeconds(60) }
  await putSweepProgress(end)
  expect(await findSweepProgress()).toEqual(end)
})
