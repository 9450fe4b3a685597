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

const valid = '{"reference":"DCS-20261121-ABC123"}'

/** Consumes a batch and returns the ids of the failed messages, and whether each was repeated. */
const run = async (bodies: string[], fails: (id: string) => boolean = () => false) => {
  const Records = bodies.map((body, index) => ({
    messageId: `m${index}`,
    receiptHandle: `r${index}`,
    body,
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-west-1:000000000000:submissions',
    attributes: { ApproximateReceiveCount: String(index + 1) },
  }))
  const repeats: boolean[] = []
  const handler = consumer('submissions', async (_message, messageId, { repeated }) => {
    repeats.push(repeated)
    if (fails(messageId)) throw new Error('on purpose')
  })
  const { batchItemFailures } = await handler({ Records } as SQSEvent, {} as Context)
  return { repeats, failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier) }
}

test('only the failed messages of a batch are redelivered, and a handler knows repeats', async () => {
  const batch = [valid, valid, valid]
  expect(await run(batch)).toEqual({ repeats: [false, true, true], failed: [] })
  expect((await run(batch, (id) => id === 'm1')).failed).toEqual(['m1'])
  expect((await run(batch, () => true)).failed).toEqual(['m0', 'm1', 'm2'])
})

test.each(['', 'no json', 'null', '{}', '{"reference":"x"}', '{"reference":7}'])(
  'an invalid message (%s) fails, and its neighbours succeed',
  async (body) => {
    expect((await run([valid, body, valid])).failed).toEqual(['m1'])
  },
)

test('a failed message is redelivered after 2, 4, 8 ... 60 seconds', async () => {
  await run(Array(8).fill(valid), () => true)
  const changes = calls
    .commandCalls(ChangeMessageVisibilityCommand)
    .map(({ args }) => args[0].input)
  const QueueUrl = 'https://sqs.eu-west-1.amazonaws.com/000000000000/submissions'
  expect(changes).toEqual(
    [2, 4, 8, 16, 32, 60, 60, 60].map((VisibilityTimeout, index) => ({
      QueueUrl,
      ReceiptHandle: `r${index}`,
      VisibilityTimeout,
    })),
  )
})

test('a message stays failed if its visibility cannot be changed', async () => {
  calls.on(ChangeMessageVisibilityCommand).rejects(new Error('gone'))
  expect((await run([valid], () => true)).failed).toEqual(['m0'])
})
