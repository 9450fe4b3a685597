import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { messages } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** A batch that somebody was at work on, and nobody any more: the sweep has it taken up again. */

for (const queue of Object.keys(messages)) {
  process.env[queueUrlVariable(queue)] = `https://sqs.test/${queue}`
}

const calls = mockClient(sqs)
beforeEach(async () => {
  await useFreshTable()
  calls.reset()
  calls.on(SendMessageBatchCommand).resolves({})
})

const BEGUN = new Date('2026-11-23T00:00:05.000Z')
const minutesAfter = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000)

/** The minutes of two hours in which a message was sent for a batch, and all that was sent. */
const sweptFrom = async (begun: Date, left: Batch) => {
  await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(left) }))
  const minutes: number[] = []
  for (let minute = 0; minute <= 120; minute += 1) {
    const before = calls.calls().length
    await sweepOverdue({ ...still(), now: () => minutesAfter(begun, minute) }, () => false)
    if (calls.calls().length > before) minutes.push(minute)
  }
  const sent = calls
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args: [{ input }] }) =>
      (input.Entries ?? []).map(({ MessageBody }) => `${input.QueueUrl} ${MessageBody}`),
    )
  return { minutes, sent: [...new Set(sent)] }
}

test('a payment is asked for by the minute, although its batch was opened a day before', async () => {
  const left = batch({ status: 'processing', processedAt: BEGUN, reportedAt: BEGUN })
  expect(await sweptFrom(BEGUN, left)).toEqual({
    minutes: [2, 4, 8, 16, 32, 64],
    sent: [`https://sqs.test/payments {"batch":"${left.id}"}`],
  })
})

// A builder may be at work for as long as a function may run: a quarter of an hour.
test('building goes on where it was left', async () => {
  const left = batch({ sealedAt: null, createdAt: BEGUN })
  expect(await sweptFrom(BEGUN, left)).toEqual({
    minutes: [17, 34, 68],
    sent: ['https://sqs.test/settlements {"provider":"demo","date":"2026-11-22"}'],
  })
})

test.each<[string, Partial<Batch>]>([
  ['failed', { status: 'failed', failedAt: BEGUN, reportedAt: BEGUN }],
  ['is to be paid by a run', { reportedAt: BEGUN }],
])('one that %s is nobody’s to look after', async (_name, state) => {
  expect(await sweptFrom(BEGUN, batch(state))).toEqual({ minutes: [], sent: [] })
})
