import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test } from 'vitest'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { mockQueues } from './relay-records.ts'

const calls = mockQueues()
beforeEach(useFreshTable)

const BEGUN = new Date('2026-11-23T00:00:05.000Z')
const minutesAfter = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000)

/** Sweeps for two hours. Returns the minutes in which a message was sent, and the distinct messages. */
const sweepTwoHours = async (batch: Batch) => {
  await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(batch) }))
  const minutes: number[] = []
  for (let minute = 0; minute <= 120; minute += 1) {
    const before = calls.calls().length
    await sweepOverdue({ ...still(), now: () => minutesAfter(BEGUN, minute) }, () => false)
    if (calls.calls().length > before) minutes.push(minute)
  }
  const sent = calls
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args: [{ input }] }) =>
      (input.Entries ?? []).map(({ MessageBody }) => `${input.QueueUrl} ${MessageBody}`),
    )
  return { minutes, sent: [...new Set(sent)] }
}

test('a lost payment is retried after minutes, although its batch was opened a day before', async () => {
  const unpaid = batch({ status: 'processing', processedAt: BEGUN, reportedAt: BEGUN })
  expect(await sweepTwoHours(unpaid)).toEqual({
    minutes: [2, 4, 8, 16, 32, 64],
    sent: [`https://sqs.test/payments {"batch":"${unpaid.id}"}`],
  })
})

// A builder runs for up to 15 minutes.
test('a lost build is retried after the timeout of its function', async () => {
  expect(await sweepTwoHours(batch({ sealedAt: null, createdAt: BEGUN }))).toEqual({
    minutes: [17, 34, 68],
    sent: ['https://sqs.test/settlements {"provider":"demo","date":"2026-11-22"}'],
  })
})

test.each<[string, Partial<Batch>]>([
  ['failed', { status: 'failed', failedAt: BEGUN, reportedAt: BEGUN }],
  ['waiting for the settlement run', { reportedAt: BEGUN }],
])('the sweep ignores a batch that is %s', async (_name, state) => {
  expect(await sweepTwoHours(batch(state))).toEqual({ minutes: [], sent: [] })
})
