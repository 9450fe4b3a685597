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
    Records: bodies.map((body, n) => ({
      messageId: `m${n}`,
      receiptHandle: `r${n}`,
      body,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:submissions',
      attributes: { ApproximateReceiveCount: String(n + 1) },
    })),
  }) as SQSEvent

const good = JSON.stringify({ reference })
const failures = (...ids: string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
})

const run = (batch: SQSEvent, fails: (n: number) => boolean = () => false) => {
  let n = 0
  const handler = consumer('submissions', async () => {
    n += 1
    if (fails(n - 1)) throw new Error('on purpose')
  })
  return handler(batch, {} as Context)
}

test('the failed messages of a batch come again, the others do not', async () => {
  expect(await run(event(good, good, good))).toEqual(failures())
  expect(await run(event(good, good, good), (n) => n === 1)).toEqual(failures('m1'))
  expect(await run(event(good, good), () => true)).toEqual(failures('m0', 'm1'))
})

test.each(['', 'no json', 'null', '{}', '{"reference":"x"}', '{"reference":7}'])(
  'a message that is none (%s) fails, and its neighbours do not',
  async (body) => {
    expect(await run(event(good, body, good))).toEqual(failures('m1'))
  },
)

test('a failed message comes again after 2, 4, 8 ... 60 seconds, not after its whole visibility', async () => {
  await run(event(...Array.from({ length: 8 }, () => good)), () => true)
  const changes = calls
    .commandCalls(ChangeMessageVisibilityCommand)
    .map(({ args }) => args[0].input)
  expect(changes.map(({ VisibilityTimeout }) => VisibilityTimeout)).toEqual([
    2, 4, 8, 16, 32, 60, 60, 60,
  ])
  expect(changes[1]).toMatchObject({
    QueueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/submissions',
    ReceiptHandle: 'r1',
  })
})

test('a message that was received before says so', async () => {
  const seen: boolean[] = []
  const handler = consumer('submissions', async (_message, _messageId, { repeated }) => {
    seen.push(repeated)
  })
  await handler(event(good, good, good), {} as Context)
  expect(seen).toEqual([false, true, true])
})

test('a visibility that cannot be changed leaves the message failed', async () => {
  calls.on(ChangeMessageVisibilityCommand).rejects(new Error('gone'))
  expect(await run(event(good), () => true)).toEqual(failures('m0'))
})
