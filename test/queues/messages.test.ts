import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { consumer, groupConsumer } from '../../shared/queues/consume.ts'
import { nextAttempt } from '../../shared/queues/outbox.ts'
import {
  batchedSend,
  type Outgoing,
  send,
  sendAll,
  sendAllOrThrow,
  sqs,
} from '../../shared/queues/send.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'
import { sqsEvent } from '../support/sqs-event.ts'

process.env.QUEUE_URL_SUBMISSIONS = 'https://sqs.test/submissions'
process.env.QUEUE_URL_WEBHOOKS_LOW = 'https://sqs.test/webhooks-low'

const calls = mockClient(sqs)
beforeEach(() => {
  calls.reset()
  calls.on(ChangeMessageVisibilityCommand).resolves({})
})

/** Lists the queue and the size of each batch that was sent. */
const batches = () =>
  calls
    .commandCalls(SendMessageBatchCommand)
    .map(({ args: [{ input }] }) => [input.QueueUrl?.split('/').at(-1), input.Entries?.length])

const refuse = (...ids: string[]) => ({
  Failed: ids.map((Id) => ({ Id, SenderFault: false, Code: 'InternalError' })),
})
const reference = 'DCS-20261121-ABC123' as Reference

const outgoing = (delaySeconds = 0): Outgoing => ({
  queue: 'submissions',
  message: { reference },
  group: 'GCB',
  delaySeconds,
})

test('a delay is rounded up to whole seconds, is never negative, and has the maximum of SQS', async () => {
  calls.on(SendMessageCommand).resolves({})
  for (const delay of [-5, 0, 0.2, 2, 299.01, 900]) await send(outgoing(delay))
  const delays = calls
    .commandCalls(SendMessageCommand)
    .map(({ args }) => args[0].input.DelaySeconds)
  expect(delays).toEqual([0, 0, 1, 2, 300, 900])
  await expect(send(outgoing(901))).rejects.toThrow(RangeError)
})

test('25 messages for one queue take three calls, and none takes no call', async () => {
  calls.on(SendMessageBatchCommand).resolves({})
  expect(await sendAll(Array.from({ length: 25 }, () => outgoing()))).toEqual([])
  expect(batches().map(([, count]) => count)).toEqual([10, 10, 5])
  await sendAllOrThrow([])
  expect(calls.calls()).toHaveLength(3)
})

test('each queue has its own calls, and a refusal by one does not affect the others', async () => {
  const message = { reference, n: 0, attempt: 1 }
  const event: Outgoing = { queue: 'webhooks-low', message, group: 'demo' }
  calls
    .on(SendMessageBatchCommand)
    .callsFake(({ QueueUrl }) => (QueueUrl.endsWith('submissions') ? refuse('1') : {}))
  const refused = outgoing(7)
  expect(await sendAll([outgoing(), event, refused, event])).toEqual([refused])
  expect(batches()).toEqual([
    ['submissions', 2],
    ['webhooks-low', 2],
  ])
  await expect(sendAllOrThrow([outgoing(), refused])).rejects.toThrow('SQS refused 1 messages')
})

test.each([
  ['behind', -3],
  ['in step', 0],
  ['ahead', 3],
])('a retry keeps the whole seconds of its delay while the clock is %s', (_, milliseconds) => {
  const { provider } = pendingDebit().facts
  const event = { reference, n: 3, provider, type: 'failed' as const, at: NOON }
  const timing = { id: 'dlv_1_1', at: NOON, milliseconds: 50, address: null, sentAs: 'x' }
  const last = pingAttempt({ kind: 'unreached', cause: 'dns' }, timing)
  const waiting = { status: 'failed' as const, last, nextAttemptAt: inSeconds(2.05) }
  const delivery = { ...newDelivery(event, {}), ...waiting }
  const [outgoing] = nextAttempt(delivery, inSeconds(0.05 + milliseconds / 1000))
  expect(Math.ceil(outgoing?.delaySeconds ?? 0)).toBe(2)
  // The queue of its first attempt.
  const message = { reference, n: 3, attempt: 1 }
  expect(outgoing).toMatchObject({ queue: 'webhooks-high', message, group: provider })
})

const valid = '{"reference":"DCS-20261121-ABC123"}'

/** Consumes a batch and returns the ids of the failed messages, and whether each was repeated. */
const run = async (bodies: string[], fails: (id: string) => boolean = () => false) => {
  const event = sqsEvent('submissions', bodies, (index) => index + 1)
  const repeats: boolean[] = []
  const handler = consumer('submissions', async (_message, messageId, { repeated }) => {
    repeats.push(repeated)
    if (fails(messageId)) throw new Error('on purpose')
  })
  const { batchItemFailures } = await handler(event, {} as Context)
  return { repeats, failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) }
}

test('each message of a batch that SQS refuses is returned', async () => {
  calls.on(SendMessageBatchCommand).resolves(refuse('0', '2'))
  const all = [1, 2, 3].map(outgoing)
  expect(await sendAll(all)).toEqual([all[0], all[2]])
})

test('a send that shares a call with others fails alone if SQS refuses its message, and the next call is made', async () => {
  const outcomes = async (...delays: number[]) =>
    (await Promise.allSettled(delays.map((delay) => shared(outgoing(delay))))).map(
      (one) => one.status,
    )
  const shared = batchedSend()
  calls.on(SendMessageBatchCommand).resolvesOnce(refuse('1')).resolves({})
  expect(await outcomes(0, 1, 2)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  // No message can have this delay.
  expect(await outcomes(901)).toEqual(['rejected'])
  expect(await outcomes(0, 1)).toEqual(['fulfilled', 'fulfilled'])
  expect(batches()).toEqual([
    ['submissions', 3],
    ['submissions', 2],
  ])
})

test('only the failed messages of a batch are redelivered, and a handler knows repeats', async () => {
  const batch = [valid, valid, valid]
  expect(await run(batch)).toEqual({ repeats: [false, true, true], failed: [] })
  expect((await run(batch, (id) => id === 'message-2')).failed).toEqual(['message-2'])
  expect((await run(batch, () => true)).failed).toEqual(['message-1', 'message-2', 'message-3'])
})

const invalid = ['', 'no json', 'null', '{}', '{"reference":"x"}', '{"reference":7}']
test.each(invalid)('an invalid message (%s) fails, and its neighbours succeed', async (body) => {
  expect((await run([valid, body, valid])).failed).toEqual(['message-2'])
})

test('a failed message is redelivered after 2, 4, 8 ... 60 seconds', async () => {
  await run(Array(8).fill(valid), () => true)
  const changes = calls
    .commandCalls(ChangeMessageVisibilityCommand)
    .map(({ args }) => args[0].input)
  const QueueUrl = 'https://sqs.eu-west-1.amazonaws.com/000000000000/submissions'
  expect(changes).toEqual(
    [2, 4, 8, 16, 32, 60, 60, 60].map((VisibilityTimeout, index) => ({
      QueueUrl,
      ReceiptHandle: `receipt-${index + 1}`,
      VisibilityTimeout,
    })),
  )
})

test('a message stays failed if its visibility cannot be changed', async () => {
  calls.on(ChangeMessageVisibilityCommand).rejects(new Error('gone'))
  expect((await run([valid], () => true)).failed).toEqual(['message-1'])
})

test('a fault in a group of a FIFO queue returns all its messages, and none of another group', async () => {
  const body = (provider: string) => ({ provider, events: [{ reference, n: 1 }] })
  const { Records } = sqsEvent('feeds.fifo', ['acme', 'kasa', 'acme'].map(body))
  for (const { attributes, body } of Records) attributes.MessageGroupId = JSON.parse(body).provider
  const handler = groupConsumer('feeds.fifo', async ([first]) => {
    if (first?.provider === 'acme') throw new Error('on purpose')
  })
  const { batchItemFailures } = await handler({ Records })
  const failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
  expect(failed).toEqual(['message-1', 'message-3'])
})
