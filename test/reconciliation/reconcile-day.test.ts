import type { Context, SQSEvent } from 'aws-lambda'
import { beforeAll, expect, test } from 'vitest'
import { reconcileDay } from '../../functions/jobs/reconcile-day.ts'
import { keys } from '../../shared/store/keys.ts'
import { still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { sampleEvent } from '../support/requests.ts'
import { useFreshTable } from '../support/tables.ts'
import { at, exampleDay, overwrite, TOMORROW } from './one-day.ts'

process.env.AWS_LAMBDA_LOG_LEVEL = 'INFO'
process.env.METRICS_DISABLED = 'false'

const { clear, lines } = captureOutput()
beforeAll(useFreshTable)

/** Runs the job and returns the log records and metrics. */
const logged = async () => {
  clear()
  const job = reconcileDay(still({ now: () => at(TOMORROW, '02:00:05') }))
  const event = (await sampleEvent('reconcile-day')) as unknown as SQSEvent
  expect(await job(event, {} as Context)).toEqual({ batchItemFailures: [] })
  return lines()
}

test('the job logs each broken invariant and counts the differences', async () => {
  const { done } = await exampleDay()
  expect(await logged()).toMatchObject([
    { SettlementUnfinished: 0 },
    { message: 'day reconciled', date: '2026-11-21', differences: 0, ReconciliationDifferences: 0 },
  ])
  await overwrite(keys.debit(done.facts.reference), { narration: 'Order 2' })
  expect(await logged()).toMatchObject([
    { SettlementUnfinished: 0 },
    {
      level: 'ERROR',
      message: 'reconciliation difference',
      date: '2026-11-21',
      invariant: 1,
      checked: 6,
      differences: 1,
      examples: [
        {
          provider: 'demo',
          subject: done.facts.reference,
          difference: 'its facts differ from the accepted request',
        },
      ],
    },
    { message: 'day reconciled', differences: 1, ReconciliationDifferences: 1 },
  ])
})
