import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs'
import type { Context, SQSEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { consumer } from '../../shared/queues/consume.ts'
import { sqs } from '../../shared/queues/send.ts'

const calls = mockClient(sqs)
beforeEach(() => {
  calls.reset()
  calls.on(ChangeMessageVisibilityCommand).resolves({})
})

const reference = 'DCS-20261121-ABC123'

const event = (...bodies: string[]): SQSEvent =>
  ({
    Records: bodies.map((body, index) => ({
      messageId: `m${index}`,
      receiptHandle: `r${index}`,
      body,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:submissions',
      attributes: { ApproximateReceiveCount: String(index + 1) },
    })),
  }) as SQSEvent

const valid = JSON.stringify({ reference })
const failures = (...ids: string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
})

const run = (batch: SQSEvent, fails: (index: number) => boolean = () => false) => {
  let calls = 0
  const handler = consumer('submissions', async () => {
    calls += 1
    if (fails(calls - 1)) throw new Error('on purpose')
  })
  return handler(batch, {} as Context)
}

test('only the failed messages of a batch are redelivered', async () => {
  expect(await run(event(valid, valid, valid))).toEqual(failures())
  expect(await run(event(valid, valid, valid), (index) => index === 1)).toEqual(failures('m1'))
  expect(await run(event(valid, valid), () => true)).toEqual(failures('m0', 'm1'))
})

const invalid = ['', 'no json', 'null', '{}', '{"reference":"x"}', '{"reference":7}']

test.each(invalid)('an invalid message (%s) fails, and its neighbours succeed', async (body) => {
  expect(await run(event(valid, body, valid))).toEqual(failures('m1'))
})

test('a failed message is redelivered after 2, 4, 8 ... 60 seconds', async () => {
  await run(event(...Array.from({ length: 8 }, () => valid)), () => true)
  const changes = calls
    .commandCalls(ChangeMessageVisibilityCommand)
    .map(({ args }) => args[0].input)
  const timeouts = changes.map(({ VisibilityTimeout }) => VisibilityTimeout)
  expect(timeouts).toEqual([2, 4, 8, 16, 32, 60, 60, 60])
  expect(changes[1]).toMatchObject({
    QueueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/submissions',
    ReceiptHandle: 'r1',
  })
})

test('the handler learns whether a message was received before', async () => {
  const received: boolean[] = []
  const handler = consumer('submissions', async (_message, _messageId, { repeated }) => {
    received.push(repeated)
  })
  await handler(event(valid, valid, valid), {} as Context)
  expect(received).toEqual([false, true, true])
})

test('a message stays failed if its visibility cannot be changed', async () => {
  calls.on(ChangeMessageVisibilityCommand).rejects(new Error('gone'))
  expect(await run(event(valid), () => true)).toEqual(failures('m0'))
})
