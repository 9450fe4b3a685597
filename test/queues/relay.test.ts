import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { relay } from '../../functions/jobs/relay.ts'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { type Delivery, newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { noteSlow } from '../../shared/domain/webhooks/health.ts'
import {
  afterPage,
  automaticRecovery,
  type Recovery,
} from '../../shared/domain/webhooks/recovery.ts'
import { messages } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { read, table } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { openRecovery, putPage } from '../../shared/store/webhooks/recoveries.ts'
import { NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

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

/** What was sent, queue by queue: no order is kept between two of them. */
const sent = () =>
  calls
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args }) =>
      (args[0].input.Entries ?? []).map((entry) => ({
        queue: args[0].input.QueueUrl?.split('/').at(-1) ?? '',
        message: JSON.parse(entry.MessageBody ?? ''),
        delay: entry.DelaySeconds,
        group: entry.MessageGroupId,
      })),
    )
    .sort((one, other) => one.queue.localeCompare(other.queue))

const moved = (debit: Debit, to: 'processing' | 'completed' | 'failed'): Debit =>
  advance(debit, { to, changes: {}, at: NOON, by: 'x', requestId: 'y' }) as Debit

const inSeconds = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

/** Numbers of a debit's events, as they stand in the feed of its provider, newest first. */
const inFeed = async ({ facts }: Debit): Promise<number[]> =>
  (await listNewest(facts.provider, 1_000))
    .filter(({ reference }) => reference === facts.reference)
    .map(({ n }) => n)

describe('a debit', () => {
  const debit = pendingDebit()
  const { reference } = debit.facts
  const opened = record('1', toDebitItem(debit))

  test('that is new: its two events in one message, its submission, its ten-minute clock', async () => {
    expect(await run(opened)).toEqual({ batchItemFailures: [] })
    expect(sent()).toEqual([
      { queue: 'submissions', message: { reference }, delay: 0, group: 'GCB#demo' },
      { queue: 'timeouts', message: { reference, phase: 'processing' }, delay: 0, group: 'demo' },
      {
        queue: 'webhooks-low',
        message: { reference, n: 0, through: 1, attempt: 1 },
        delay: 0,
        group: 'demo',
      },
    ])
    expect(await inFeed(debit)).toEqual([1, 0])
  })

  test('that moved: each event in the queue of its priority; processing sets the five-minute clock', async () => {
    const processing = moved(debit, 'processing')
    await run(record('1', toDebitItem(processing), toDebitItem(debit)))
    await run(record('2', toDebitItem(moved(processing, 'completed')), toDebitItem(processing)))
    await run(record('3', toDebitItem(moved(processing, 'failed')), toDebitItem(processing)))
    expect(sent().map(({ queue, message }) => [queue, message])).toEqual([
      ['timeouts', { reference, phase: 'approval' }],
      ['webhooks-high', { reference, n: 3, attempt: 1 }],
      ['webhooks-high', { reference, n: 3, attempt: 1 }],
      ['webhooks-medium', { reference, n: 2, attempt: 1 }],
    ])
    expect(await inFeed(debit)).toEqual([3, 2, 1, 0])
  })

  test('whose moves come in one batch stands in the feed in their order, whatever is known late', async () => {
    process.env.CACHE_SECONDS = '0'
    const own = pendingDebit({ provider: providerId('in-order') })
    const processing = moved(own, 'processing')
    let asked = 0
    const others = Promise.withResolvers<void>()
    table.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName !== 'GetItemCommand') return next(args)
          asked += 1
          const turn = asked
          // The first to ask is the last to be answered.
          if (turn === 1) await others.promise
          const answer = await next(args)
          if (turn === 3) setTimeout(others.resolve, 100)
          return answer
        },
      { step: 'initialize', name: 'late' },
    )
    await run(
      record('1', toDebitItem(own)),
      record('2', toDebitItem(processing), toDebitItem(own)),
      record('3', toDebitItem(moved(processing, 'completed')), toDebitItem(processing)),
    )
    table.middlewareStack.remove('late')
    delete process.env.CACHE_SECONDS
    expect(asked).toBe(3)
    expect(await inFeed(own)).toEqual([3, 2, 1, 0])
  })

  test('whose record comes again is announced again, and stands in the feed once', async () => {
    await run(opened)
    expect(sent()).toHaveLength(3)
    expect(await inFeed(debit)).toEqual([3, 2, 1, 0])
  })

  test('that only was looked at brings nothing', async () => {
    const looked = { ...toDebitItem(debit), due: inSeconds(600).toISOString() }
    expect(await run(record('1', looked, toDebitItem(debit)))).toEqual({ batchItemFailures: [] })
    expect(sent()).toEqual([])
  })

  test('stands in the feed of its own provider alone, also without a webhook', async () => {
    const other = pendingDebit({ provider: providerId('other') })
    await run(record('1', toDebitItem(other)))
    expect(await listNewest(providerId('other'), 10)).toEqual([
      { reference: other.facts.reference, n: 1 },
      { reference: other.facts.reference, n: 0 },
    ])
  })
})

/** What the table holds under a key, as an image of the stream shows it. */
const itemAt = async (key: Key): Promise<object> => (await read<object>(key)) ?? {}

describe('a delivery', () => {
  const { reference, provider } = pendingDebit().facts
  const event = { reference, provider, type: 'completed' as const, at: NOON }

  /** The record as the store writes it, under a number of its own. */
  let events = 0
  const written = async (changes: Partial<Delivery>): Promise<object> => {
    events += 1
    const delivery = { ...newDelivery({ ...event, n: 3 }, {}), ...changes }
    await replaceDelivery(undefined, { ...delivery, n: events })
    return { ...(await itemAt(keys.delivery(reference, events))), n: 3 }
  }
  const waiting = { status: 'failed', attemptCount: 4, nextAttemptAt: inSeconds(16.001) } as const

  test('that failed is tried again, when that is due and not before', async () => {
    const before = await written(waiting)
    await run(record('1', before))
    const abandoned = await written({ ...waiting, status: 'abandoned', nextAttemptAt: null })
    await run(record('2', abandoned, before))
    expect(sent()).toEqual([
      {
        queue: 'webhooks-high',
        message: { reference, n: 3, attempt: 5 },
        delay: 17,
        group: 'demo',
      },
    ])
  })

  test('that is asked for once more is tried at once, also in place of what was due', async () => {
    const before = await written(waiting)
    const asked = await written({ ...waiting, status: 'pending', nextAttemptAt: NOON })
    await run(record('1', asked, before))
    expect(sent()).toMatchObject([{ message: { reference, n: 3, attempt: 5 }, delay: 0 }])
  })

  test('that was overdue when it was written waits no longer', async () => {
    await run(record('1', await written({ ...waiting, nextAttemptAt: inSeconds(-60) })))
    expect(sent()).toMatchObject([{ delay: 0 }])
  })

  test('that only was looked at brings nothing', async () => {
    const before = await written(waiting)
    await run(record('1', { ...before, due: inSeconds(900).toISOString() }, before))
    expect(sent()).toEqual([])
  })
})

describe('a recovery', () => {
  const provider = providerId('demo')
  const first = automaticRecovery({ provider, id: 'r-1', now: NOON })
  const itemOf = ({ id }: Recovery): Promise<object> => itemAt(keys.recovery(provider, id))

  test('has each page made when it is due, and none after the last', async () => {
    await openRecovery(first)
    const opened = await itemOf(first)
    const second = afterPage(first, { cursor: 'c', taken: 50, isLast: false }, NOON)
    await putPage(second)
    const between = await itemOf(second)
    await putPage(afterPage(second, { cursor: 'd', taken: 3, isLast: true }, NOON))
    const done = await itemOf(first)
    await run(record('1', opened))
    await run(record('2', between, opened))
    await run(record('3', done, between))
    expect(sent()).toEqual([
      { queue: 'recoveries', message: { provider, id: 'r-1', page: 0 }, delay: 0, group: 'demo' },
      { queue: 'recoveries', message: { provider, id: 'r-1', page: 1 }, delay: 10, group: 'demo' },
    ])
  })
})

describe('events of a receiver that is slow', () => {
  const slow = providerId('slow')
  beforeAll(async () => {
    await changeHealth(slow, (health) => noteSlow(health, NOON))
  })

  test('wait apart, first attempts and later ones; nothing else does', async () => {
    const debit = pendingDebit({ provider: slow })
    const { reference } = debit.facts
    await run(record('1', toDebitItem(debit)))
    const event = { reference, n: 0, provider: slow, type: 'created' as const, at: NOON }
    await replaceDelivery(undefined, {
      ...newDelivery(event, {}),
      status: 'failed',
      attemptCount: 1,
      nextAttemptAt: inSeconds(2),
    })
    await run(record('2', await itemAt(keys.delivery(reference, 0))))
    expect(sent()).toEqual([
      { queue: 'submissions', message: { reference }, delay: 0, group: 'GCB#slow' },
      { queue: 'timeouts', message: { reference, phase: 'processing' }, delay: 0, group: 'slow' },
      {
        queue: 'webhooks-sidelined',
        message: { reference, n: 0, through: 1, attempt: 1 },
        delay: 0,
        group: 'slow',
      },
      {
        queue: 'webhooks-sidelined',
        message: { reference, n: 0, attempt: 2 },
        delay: 2,
        group: 'slow',
      },
    ])
    expect(await inFeed(debit)).toEqual([1, 0])
  })
})

test('a record whose messages SQS did not take is reported, and the others are done', async () => {
  const [one, other] = [pendingDebit(), pendingDebit()]
  calls
    .on(SendMessageBatchCommand)
    .resolvesOnce({ Failed: [{ Id: '0', SenderFault: false, Code: 'InternalError' }] })
    .resolves({})
  const reply = await run(record('1', toDebitItem(one)), record('2', toDebitItem(other)))
  expect(reply.batchItemFailures).toHaveLength(1)
  expect(await inFeed(one)).toEqual([1, 0])
  expect(await inFeed(other)).toEqual([1, 0])
})

test('a record that the feed did not take is reported', async () => {
  const { TABLE_NAME } = process.env
  process.env.TABLE_NAME = 'no-such-table'
  expect(await run(record('7', toDebitItem(pendingDebit())))).toEqual({
    batchItemFailures: [{ itemIdentifier: '7' }],
  })
  process.env.TABLE_NAME = TABLE_NAME
})

test('what nothing follows from is passed over', async () => {
  expect(await run(record('1', { entity: 'provider' }))).toEqual({ batchItemFailures: [] })
  expect(sent()).toEqual([])
})
