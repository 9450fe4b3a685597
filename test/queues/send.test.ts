import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { nextAttempt } from '../../shared/queues/outbox.ts'
import { type Outgoing, send, sendAll, sendAllOrThrow, sqs } from '../../shared/queues/send.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'

process.env.QUEUE_URL_SUBMISSIONS = 'https://sqs.test/submissions'
process.env.QUEUE_URL_WEBHOOKS_LOW = 'https://sqs.test/webhooks-low'

const calls = mockClient(sqs)
beforeEach(() => calls.reset())

/** Lists the queue and the size of each batch that was sent. */
const batches = () =>
  calls
    .commandCalls(SendMessageBatchCommand)
    .map(({ args: [{ input }] }) => [input.QueueUrl?.split('/').at(-1), input.Entries?.length])

const refuseSecond = { Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] }
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

test('twenty-five messages for one queue take three calls, and none takes no call', async () => {
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
    .callsFake(({ QueueUrl }) => (QueueUrl.endsWith('submissions') ? refuseSecond : {}))
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
})
