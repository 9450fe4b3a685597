import { beforeEach, expect, test } from 'vitest'
import { walk } from '../../shared/sweep/walk.ts'
import { at, completedDebits, newProvider, runtimeAt } from '../settlement/one-provider.ts'
import { useFreshTable } from '../support/tables.ts'

/** What a run of the sweep has read of a provider. */

beforeEach(useFreshTable)

test('the progress of a walk ends where its ended debits end, although its created ones were all read', async () => {
  const provider = await newProvider()
  await completedDebits(provider, Array(900).fill(1_00), at('09:00:00'))
  await completedDebits(provider, Array(30).fill(1_00), at('10:00:00'))
  const span = { from: at('08:00:00'), before: at('12:00:00') }
  const walked = await walk({
    ...{ provider, span, known: new Set(), runtime: runtimeAt('12:00:00') },
    ...{ timeIsUp: () => true, createdTimeIsUp: () => false },
  })
  expect(walked.ended.length).toBeLessThan(930)
  expect(walked.until.getTime()).toBeLessThan(at('10:00:00').getTime())
})
