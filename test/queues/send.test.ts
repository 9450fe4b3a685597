import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/reference.ts'
import { type Outgoing, send, sendAll, sqs } from '../../shared/queues/send.ts'

process.env.QUEUE_URL_SUBMISSIONS = 'https://sqs.test/submissions'

const calls = mockClient(sqs)
beforeEach(() => calls.reset())

const outgoing = (delaySeconds = 0): Outgoing => ({
  queue: 'submissions',
  message: { reference: 'DCS-20261121-ABC123' as Reference },
  group: 'GCB',
  delaySeconds,
})

test('a delay is whole seconds, rounded up, and never below none', async () => {
  calls.on(SendMessageCommand).resolves({})
  for (const delay of [-5, 0, 0.2, 2, 299.01]) await send(outgoing(delay))
  const delays = calls
    .commandCalls(SendMessageCommand)
    .map(({ args }) => args[0].input.DelaySeconds)
  expect(delays).toEqual([0, 0, 1, 2, 300])
})

test('a delay that SQS does not know is a mistake of ours', async () => {
  await expect(send(outgoing(901))).rejects.toThrow(RangeError)
})

test('twenty-five messages for one queue take three calls, each with its group', async () => {
  calls.on(SendMessageBatchCommand).resolves({})
  expect(await sendAll(Array.from({ length: 25 }, () => outgoing()))).toEqual([])
  const sizes = calls
    .commandCalls(SendMessageBatchCommand)
    .map(({ args }) => args[0].input.Entries?.length)
  expect(sizes).toEqual([10, 10, 5])
})

test('what SQS did not take is told', async () => {
  calls
    .on(SendMessageBatchCommand)
    .resolves({ Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] })
  const all = [outgoing(1), outgoing(2), outgoing(3)]
  expect(await sendAll(all)).toEqual([all[1]])
})
