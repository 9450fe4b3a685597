import { beforeEach, expect, test } from 'vitest'
import { walk } from '../../shared/sweep/walk.ts'
import { at, completedDebits, newProvider, runtimeAt } from '../settlement/one-provider.ts'
import { captureOutput } from '../support/output.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

/** What a run of the sweep has read of a provider. */

process.env.METRICS_DISABLED = 'false'
const { clear, metrics } = captureOutput()
beforeEach(clear)
beforeEach(useFreshTable)

const walkPages = async (isUp: boolean) => {
  const provider = await newProvider()
  await completedDebits(provider, Array(900).fill(1_00), at('09:00:00'))
  await completedDebits(provider, Array(30).fill(1_00), at('10:00:00'))
  const span = { from: at('08:00:00'), before: at('12:00:00') }
  return walk({
    ...{ provider, span, known: new Set(), runtime: runtimeAt('12:00:00') },
    ...{ timeIsUp: () => isUp, createdTimeIsUp: () => false },
  })
}

test('the progress of a walk ends where its ended debits end, although its created ones were all read', async () => {
  const walked = await walkPages(true)
  expect(walked.ended.length).toBeLessThan(930)
  expect(walked.until.getTime()).toBeLessThan(at('10:00:00').getTime())
})

test('a walk that cannot read a second page ends after the first one, and counts the fault', async () => {
  aroundTableCalls((_, next, text) =>
    text().includes('"ExclusiveStartKey":{"') ? Promise.reject(new Error('throttled')) : next(),
  )
  const walked = await walkPages(false)
  expect(walked.ended.length).toBeGreaterThan(0)
  expect(walked.until).toEqual(at('09:00:00'))
  expect(metrics()).toEqual([{ SweepFaults: 1 }])
})
