import { beforeAll, expect, test } from 'vitest'
import { manageDeadLetters } from '../../functions/operator/manage-dead-letters.ts'
import { newAws } from '../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../sandbox/aws/clock.ts'
import { queueUrl } from '../../sandbox/aws/queues.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import { deadLetters, type QueueName, queueNames } from '../../shared/queues/messages.ts'
import { queueUrlVariable, real } from '../../shared/runtime.ts'
import { captureOutput } from '../support/output.ts'

/** The function `manage-dead-letters` on the in-memory AWS, whose calls fail. */

captureOutput()

type Sent = { body: string; group: string | undefined }
type Fault = { call: number; isLate: boolean }
// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
type Reply = any

const started = () => {
  const clock = newSteppedClock(Date.parse('2026-11-21T10:00:00Z'))
  const received: Sent[] = []
  let isFailing = false
  const aws = newAws({
    clock,
    tableName: 'letters',
    invoke: async (_, event) => {
      const { Records } = event as { Records: Reply[] }
      const group = (record: Reply) => record.attributes.MessageGroupId
      if (!isFailing)
        received.push(...Records.map((one) => ({ body: one.body, group: group(one) })))
      const failed = isFailing ? Records : []
      const batchItemFailures = failed.map(({ messageId }) => ({ itemIdentifier: messageId }))
      return { kind: 'done', value: { batchItemFailures } }
    },
  })
  /** The calls to SQS, and the one that fails before or after its effect. */
  const calls: { name: string; input: Reply }[] = []
  let fault: Fault | undefined
  let refuses: string | undefined
  answerCalls(({ constructor: { name }, input }) =>
    perform(() => {
      if (!('QueueUrl' in input)) return aws.perform(name, input)
      calls.push({ name, input })
      const isStruck = fault?.call === calls.length
      if (isStruck && !fault?.isLate) throw new Error('The call failed')
      if (name === refuses) {
        const [first, ...Entries] = (input as Reply).Entries
        const { Successful = [] } =
          Entries.length > 0 ? aws.perform(name, { ...input, Entries }) : {}
        return { Successful, Failed: [{ Id: first.Id }] }
      }
      const output = aws.perform(name, input)
      if (isStruck) throw new Error('The reply was lost')
      return output
    }),
  )
  const handle = manageDeadLetters({ ...real, now: () => new Date(clock.now()) })
  const pass = async (seconds: number) => {
    const until = clock.now() + seconds * 1000
    while (clock.step(until)) await new Promise(setImmediate)
  }
  return {
    received,
    calls,
    pass,
    strike: (next: Fault) => {
      fault = next
    },
    refuse: (name: string | undefined) => {
      refuses = name
    },
    fail: (is: boolean) => {
      isFailing = is
    },
    send: (url: string, MessageBody: string, more = {}) =>
      aws.perform('SendMessageCommand', { QueueUrl: url, MessageBody, ...more }),
    call: async (verb: string, options: Record<string, string>): Promise<Reply> => {
      const reply = await handle({ verb, options, actor: 'local:ama' } as never)
      return 'error' in reply ? reply : reply.result
    },
  }
}

const bodyOf = (n: number) => JSON.stringify({ reference: `DCS-20261121-AAAAA${n % 10}`, n })

/** Eleven letters: a batch and one more, of two groups. */
const BODIES = Array.from({ length: 11 }, (_, n) => bodyOf(n))
const groupOf = (body: string) => (BODIES.indexOf(body) % 2 === 0 ? 'even' : 'odd')

const withLetters = (queue: QueueName) => {
  const world = started()
  for (const body of BODIES) {
    const members = { MessageGroupId: groupOf(body), MessageDeduplicationId: `id of ${body}` }
    world.send(deadLetters(queueUrl(queue)), body, members)
  }
  return world
}

beforeAll(() => {
  process.env.TABLE_NAME = 'letters'
  for (const queue of queueNames) process.env[queueUrlVariable(queue)] = queueUrl(queue)
})

const QUEUES = ['submissions', 'feeds.fifo'] as const

test.each(QUEUES)('a redrive moves every letter of %s to its queue', async (queue) => {
  const { call, calls, received, pass } = withLetters(queue)
  expect(await call('redrive', { queue })).toEqual({ queue, moved: 11, remaining: 0 })
  await pass(1)
  expect(received.map(({ body }) => body).sort()).toEqual(BODIES.toSorted())
  expect(received.every(({ body, group }) => group === groupOf(body))).toBe(true)
  const sent = calls
    .filter(({ name }) => name === 'SendMessageBatchCommand')
    .flatMap(({ input }) => input.Entries)
  for (const { MessageBody, MessageDeduplicationId } of sent) {
    expect(MessageDeduplicationId).toBe(`id of ${MessageBody}`)
  }
})

/** Checks that each letter arrives once a second call has no fault, in the order of its group. */
const expectNoLoss = async (queue: QueueName, world: ReturnType<typeof started>) => {
  const first = await world.call('redrive', { queue }).catch(() => undefined)
  world.refuse(undefined)
  await world.pass(61)
  const { moved, remaining } = await world.call('redrive', { queue })
  expect(remaining).toBe(0)
  await world.pass(1)
  const arrived = [...new Set(world.received.map(({ body }) => body))]
  expect(arrived.toSorted()).toEqual(BODIES.toSorted())
  if (queue === 'feeds.fifo') {
    for (const group of ['even', 'odd']) {
      const isIn = (body: string) => groupOf(body) === group
      expect(arrived.filter(isIn)).toEqual(BODIES.filter(isIn))
    }
  }
  return { first, moved }
}

test.each(QUEUES)(
  'no letter of %s is lost whichever call fails, before or after its effect',
  async (queue) => {
    const whole = withLetters(queue)
    await whole.call('redrive', { queue })
    expect(whole.calls.length).toBeGreaterThan(7)
    for (const isLate of [false, true]) {
      for (const [index] of whole.calls.entries()) {
        const world = withLetters(queue)
        world.strike({ call: index + 1, isLate })
        const { first } = await expectNoLoss(queue, world)
        expect(first).toBeUndefined()
      }
    }
  },
)

test.each(
  QUEUES.flatMap((queue) => [
    [queue, 'SendMessageBatchCommand'] as const,
    [queue, 'DeleteMessageBatchCommand'] as const,
  ]),
)('a letter of %s that %s refuses stays and moves with the next call', async (queue, name) => {
  const world = withLetters(queue)
  world.refuse(name)
  const { first, moved } = await expectNoLoss(queue, world)
  expect(first.moved + moved).toBe(11)
  expect(first.remaining).toBe(moved)
  expect(moved).toBeGreaterThan(0)
})

test('a call moves at most 500 letters and counts the remaining ones', async () => {
  const { call, send } = started()
  for (let n = 0; n < 505; n += 1) send(deadLetters(queueUrl('refunds')), bodyOf(n))
  const queue = 'refunds'
  expect(await call('redrive', { queue })).toEqual({ queue, moved: 500, remaining: 5 })
  expect(await call('redrive', { queue })).toEqual({ queue, moved: 5, remaining: 0 })
})

const MOVED_BY_SQS = { message_id: expect.any(String), kind: 'failed', reason: null }

test('a message that failed twelve times is listed with its age and ids, and keeps its attributes', async () => {
  const { call, calls, fail, pass, send } = started()
  const [queue, reference] = ['expiries', 'DCS-20261121-AAAAAA'] as const
  const attributes = { trace: { DataType: 'String', StringValue: 't' } }
  fail(true)
  const body = JSON.stringify({ reference, phase: 'approval', phone: '+233241234567' })
  send(queueUrl(queue), body, { MessageGroupId: 'demo', MessageAttributes: attributes })
  await pass(3600)
  const [row] = await call('list', { queue })
  expect(row).toEqual({
    ...{ queue, count: 1 },
    letters: [{ ...MOVED_BY_SQS, age_seconds: 3600, subject: { reference } }],
  })
  // The letters stay visible.
  expect((await call('list', { queue }))[0].letters).toHaveLength(1)
  expect(await call('redrive', { queue })).toMatchObject({ moved: 1 })
  const { input } = calls.find(({ name }) => name === 'SendMessageBatchCommand') ?? {}
  expect(input.Entries).toEqual([
    expect.objectContaining({
      MessageBody: body,
      MessageGroupId: 'demo',
      MessageAttributes: attributes,
    }),
  ])
})

const attribute = (StringValue: string) => ({ DataType: 'String', StringValue })

test.each([
  ['its request to SQS', (MessageBody: string) => ({ MessageBody, QueueUrl: 'https://sqs' })],
  ['the message', (MessageBody: string) => JSON.parse(MessageBody)],
])(
  'a letter in which Scheduler wrote %s goes to the queue of the schedule as the message',
  async (_, letterOf) => {
    const { call, pass, received, send } = started()
    const [queue, reference] = ['expiries', 'DCS-20261121-AAAAAA'] as const
    const body = JSON.stringify({ reference, phase: 'approval' })
    send(deadLetters(queueUrl(queue)), JSON.stringify(letterOf(body)), {
      MessageAttributes: {
        ERROR_CODE: attribute('AWS.Scheduler.InternalServerError'),
        ERROR_MESSAGE: attribute('Unexpected error'),
        TARGET_ARN: attribute('arn:aws:scheduler:::aws-sdk:sqs:sendMessage'),
      },
    })
    const [{ letters }] = await call('list', { queue })
    expect(letters).toMatchObject([
      { kind: 'unsent', reason: 'AWS.Scheduler.InternalServerError: Unexpected error' },
    ])
    expect(letters[0].subject).toEqual({ reference })
    expect(await call('redrive', { queue })).toEqual({ queue, moved: 1, remaining: 0 })
    await pass(1)
    expect(received).toEqual([{ body, group: undefined }])
  },
)

test('a letter that no consumer can read is malformed, and its text is not shown', async () => {
  const { call, send } = started()
  send(deadLetters(queueUrl('payments')), '{"phone":"+233241234567"}')
  const [{ letters }] = await call('list', { queue: 'payments' })
  expect(letters).toMatchObject([{ kind: 'malformed', reason: null, subject: {} }])
  expect(JSON.stringify(letters)).not.toContain('233')
})

test('a queue that the stage lacks is neither listed nor redriven', async () => {
  const { call } = started()
  const variable = queueUrlVariable('sandbox-outcomes')
  delete process.env[variable]
  const queue = 'sandbox-outcomes'
  const listed = (await call('list', {})).map((row: Reply) => row.queue)
  expect(listed).toEqual(queueNames.filter((name) => name !== queue))
  expect(await call('list', { queue })).toEqual({ error: 'no such queue' })
  expect(await call('redrive', { queue })).toEqual({ error: 'no such queue' })
  process.env[variable] = queueUrl(queue)
})
