import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import {
  type Outgoing,
  send,
  sendAll,
  sendAllOrThrow,
  setVisibility,
  sqs,
} from '../../shared/queues/send.ts'

process.env.QUEUE_URL_SUBMISSIONS = 'https://sqs.test/submissions'
process.env.QUEUE_URL_WEBHOOKS_LOW = 'https://sqs.test/webhooks-low'

const calls = mockClient(sqs)
beforeEach(() => calls.reset())

/** Lists the inputs of the batches that were sent. */
const batches = () => calls.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input)

const refuseSecond = { Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] }

const outgoing = (delaySeconds = 0): Outgoing => ({
  queue: 'submissions',
  message: { reference: 'DCS-20261121-ABC123' as Reference },
  group: 'GCB',
  delaySeconds,
})

test('a delay is rounded up to whole seconds and is never negative', async () => {
  calls.on(SendMessageCommand).resolves({})
  for (const delay of [-5, 0, 0.2, 2, 299.01]) await send(outgoing(delay))
  const delays = calls
    .commandCalls(SendMessageCommand)
    .map(({ args }) => args[0].input.DelaySeconds)
  expect(delays).toEqual([0, 0, 1, 2, 300])
})

test('a delay above the maximum of SQS throws', async () => {
  await expect(send(outgoing(901))).rejects.toThrow(RangeError)
})

test('twenty-five messages for one queue take three calls', async () => {
  calls.on(SendMessageBatchCommand).resolves({})
  expect(await sendAll(Array.from({ length: 25 }, () => outgoing()))).toEqual([])
  expect(batches().map(({ Entries }) => Entries?.length)).toEqual([10, 10, 5])
})

test('sendAll returns the messages that SQS refused', async () => {
  calls.on(SendMessageBatchCommand).resolves(refuseSecond)
  const all = [outgoing(1), outgoing(2), outgoing(3)]
  expect(await sendAll(all)).toEqual([all[1]])
})

test('sendAllOrThrow throws if SQS refused one message', async () => {
  calls.on(SendMessageBatchCommand).resolves({})
  await sendAllOrThrow([outgoing(), outgoing()])
  calls.on(SendMessageBatchCommand).resolves(refuseSecond)
  await expect(sendAllOrThrow([outgoing(), outgoing()])).rejects.toThrow('SQS refused 1 messages')
})

test('an empty list makes no call', async () => {
  await sendAllOrThrow([])
  expect(calls.calls()).toEqual([])
})

test('each queue has its own calls, and a refusal by one does not affect the others', async () => {
  const event: Outgoing = {
    queue: 'webhooks-low',
    message: { reference: 'DCS-20261121-ABC123' as Reference, n: 0, attempt: 1 },
    group: 'demo',
  }
  calls
    .on(SendMessageBatchCommand)
    .callsFake(({ QueueUrl }) => (QueueUrl.endsWith('submissions') ? refuseSecond : {}))
  const refused = outgoing(7)
  expect(await sendAll([outgoing(), event, refused, event])).toEqual([refused])
  expect(batches().map(({ QueueUrl, Entries }) => [QueueUrl, Entries?.length])).toEqual([
    ['https://sqs.test/submissions', 2],
    ['https://sqs.test/webhooks-low', 2],
  ])
})

test('setVisibility changes an in-flight message in its own queue', async () => {
  calls.on(ChangeMessageVisibilityCommand).resolves({})
  await setVisibility('arn:aws:sqs:eu-west-1:123456789012:webhooks-low', 'receipt', 30)
  const [call] = calls.commandCalls(ChangeMessageVisibilityCommand)
  expect(call?.args[0].input).toEqual({
    QueueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks-low',
    ReceiptHandle: 'receipt',
    VisibilityTimeout: 30,
  })
})
