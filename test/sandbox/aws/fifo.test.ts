import { expect, test } from 'vitest'
import { newAws } from '../../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../../sandbox/aws/clock.ts'
import { queueUrl } from '../../../sandbox/aws/queues.ts'

/** FIFO queues of the in-memory AWS. */

const QueueUrl = queueUrl('feeds.fifo')

const started = () => {
  const batches: { bodies: string[]; end: (failed?: boolean) => Promise<void> }[] = []
  const clock = newSteppedClock(0)
  const aws = newAws({
    clock,
    tableName: 'T',
    invoke: (_, event) => {
      const { Records } = event as { Records: { messageId: string; body: string }[] }
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const end = async (failed = false) => {
        const failures = failed ? Records : []
        resolve({
          batchItemFailures: failures.map(({ messageId }) => ({ itemIdentifier: messageId })),
        })
        await new Promise(setImmediate)
      }
      batches.push({ bodies: Records.map(({ body }) => body), end })
      return promise.then((value) => ({ kind: 'done' as const, value }))
    },
  })
  const send = (MessageGroupId: string, ...bodies: string[]) => {
    for (const MessageBody of bodies) {
      aws.perform('SendMessageCommand', { QueueUrl, MessageBody, MessageGroupId })
    }
  }
  const pass = (milliseconds: number) => {
    const until = clock.now() + milliseconds
    while (clock.step(until));
  }
  return { aws, batches, send, pass, bodies: () => batches.map((batch) => batch.bodies) }
}

test('a group has one batch in flight, of ten in order, while other groups go on', async () => {
  const { batches, bodies, send, pass } = started()
  send('a', 'a0')
  pass(1)
  send('a', ...Array.from({ length: 11 }, (_, n) => `a${n + 1}`))
  send('b', 'b0')
  pass(1)
  expect(bodies()).toEqual([['a0'], ['b0']])
  await batches[0]?.end()
  expect(bodies()[2]).toEqual(Array.from({ length: 10 }, (_, n) => `a${n + 1}`))
  await batches[2]?.end()
  expect(bodies()[3]).toEqual(['a11'])
})

test('a failed batch is delivered again before later messages of its group', async () => {
  const { batches, bodies, send, pass } = started()
  send('a', 'first')
  pass(1)
  send('a', 'second')
  await batches[0]?.end(true)
  pass(100_000)
  expect(bodies()).toEqual([['first']])
  pass(100_000)
  expect(bodies()[1]).toEqual(['first', 'second'])
})

test('a body is accepted once in five minutes for a group', async () => {
  const { batches, bodies, send, pass } = started()
  send('a', 'same', 'same')
  send('b', 'same')
  pass(1)
  expect(bodies()).toEqual([['same'], ['same']])
  await batches[0]?.end()
  await batches[1]?.end()
  pass(299_998)
  send('a', 'same')
  pass(2)
  send('a', 'same')
  pass(1)
  expect(bodies().slice(2)).toEqual([['same']])
})

test('a message without a group, or with a delay, is refused', () => {
  const { aws } = started()
  const message = { QueueUrl, MessageBody: '{}' }
  const refusal = { name: 'InvalidParameterValue' }
  const send = (input: object) => aws.perform('SendMessageCommand', { ...message, ...input })
  expect(() => send({})).toThrow(expect.objectContaining(refusal))
  expect(() => send({ MessageGroupId: 'a', DelaySeconds: 0 })).toThrow(
    expect.objectContaining(refusal),
  )
})
