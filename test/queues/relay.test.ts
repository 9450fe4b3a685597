import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { relay } from '../../functions/jobs/relay.ts'
import { advance, type Debit } from '../../shared/domain/debit.ts'
import { messages } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { toDebitItem } from '../../shared/store/debit-item.ts'
import { NOON, pendingDebit, still } from '../support/examples.ts'

for (const queue of Object.keys(messages)) {
  process.env[queueUrlVariable(queue)] = `https://sqs.test/${queue}`
}

const calls = mockClient(sqs)
beforeEach(() => {
  calls.reset()
  calls.on(SendMessageBatchCommand).resolves({})
})

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage']

const image = (item: object): Image => marshall(item, { removeUndefinedValues: true }) as Image

const record = (SequenceNumber: string, next: object, old?: object): DynamoDBRecord => ({
  eventName: old ? 'MODIFY' : 'INSERT',
  dynamodb: {
    SequenceNumber,
    NewImage: image(next),
    ...(old ? { OldImage: image(old) } : {}),
  } as NonNullable<DynamoDBRecord['dynamodb']>,
})

const run = (...Records: DynamoDBRecord[]) =>
  relay(still())({ Records } as DynamoDBStreamEvent, {} as Context)

/** What was sent, as `queue message`, with its delay and its group. */
const sent = () =>
  calls.commandCalls(SendMessageBatchCommand).flatMap(({ args }) =>
    (args[0].input.Entries ?? []).map((entry) => ({
      queue: args[0].input.QueueUrl?.split('/').at(-1),
      message: JSON.parse(entry.MessageBody ?? ''),
      delay: entry.DelaySeconds,
      group: entry.MessageGroupId,
    })),
  )

const moved = (debit: Debit, to: 'processing' | 'completed' | 'failed'): Debit =>
  advance(debit, { to, changes: {}, at: NOON, by: 'x', requestId: 'y' }) as Debit

const debit = pendingDebit()
const { reference } = debit.facts

test('a new debit: its two events in one message, its submission, its ten-minute clock', async () => {
  expect(await run(record('1', toDebitItem(debit)))).toEqual({ batchItemFailures: [] })
  expect(sent()).toEqual([
    {
      queue: 'webhooks-low',
      message: { reference, n: 0, through: 1, attempt: 1 },
      delay: 0,
      group: 'demo',
    },
    { queue: 'submissions', message: { reference }, delay: 0, group: 'GCB' },
    { queue: 'timeouts', message: { reference, phase: 'processing' }, delay: 0, group: 'demo' },
  ])
})

test('each later event goes to the queue of its priority; processing sets the five-minute clock', async () => {
  const processing = moved(debit, 'processing')
  await run(record('1', toDebitItem(processing), toDebitItem(debit)))
  await run(record('2', toDebitItem(moved(processing, 'completed')), toDebitItem(processing)))
  await run(record('3', toDebitItem(moved(processing, 'failed')), toDebitItem(processing)))
  expect(sent().map(({ queue, message }) => [queue, message])).toEqual([
    ['webhooks-medium', { reference, n: 2, attempt: 1 }],
    ['timeouts', { reference, phase: 'approval' }],
    ['webhooks-high', { reference, n: 3, attempt: 1 }],
    ['webhooks-high', { reference, n: 3, attempt: 1 }],
  ])
})

test('a failed attempt is followed by the next one, when it is due and not before', async () => {
  const delivery = {
    entity: 'delivery',
    reference,
    n: 3,
    partner: 'demo',
    event: 'completed',
    status: 'failed',
    attemptCount: 4,
    attemptsMax: 11,
    nextAttemptAt: new Date(NOON.getTime() + 16_001).toISOString(),
    deliveredAt: null,
    failedAt: null,
  }
  await run(record('1', delivery))
  await run(record('2', { ...delivery, status: 'abandoned', nextAttemptAt: null }, delivery))
  expect(sent()).toEqual([
    {
      queue: 'webhooks-high',
      message: { reference, n: 3, attempt: 5 },
      delay: 17,
      group: 'demo',
    },
  ])
})

test('a record whose messages SQS did not take is reported, and the others are done', async () => {
  const other = pendingDebit()
  calls
    .on(SendMessageBatchCommand)
    .resolvesOnce({ Failed: [{ Id: '0', SenderFault: false, Code: 'InternalError' }] })
    .resolves({})
  const reply = await run(record('1', toDebitItem(debit)), record('2', toDebitItem(other)))
  expect(reply.batchItemFailures).toHaveLength(1)
})

test('what is no debit and no delivery is passed over', async () => {
  expect(await run(record('1', { entity: 'partner' }))).toEqual({ batchItemFailures: [] })
  expect(sent()).toEqual([])
})
