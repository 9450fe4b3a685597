import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { type Delivery, newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { noteSlow } from '../../shared/domain/webhooks/health.ts'
import {
  afterPage,
  automaticRecovery,
  type Recovery,
} from '../../shared/domain/webhooks/recovery.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { openRecovery, putPage } from '../../shared/store/webhooks/recoveries.ts'
import { inSeconds, NOON, pendingDebit, providerId } from '../support/examples.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import { advanced, mockQueues, record, runRelay } from './relay-records.ts'

beforeAll(useFreshTable)

const calls = mockQueues()

/** Lists the sent messages by queue; the order of two queues is undefined. */
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
    .sort((a, b) => a.queue.localeCompare(b.queue))

/** Lists the events of a debit in its provider's feed, newest first. */
const inFeed = async ({ facts }: Debit): Promise<number[]> =>
  (await listNewest(facts.provider, 1_000))
    .filter(({ reference }) => reference === facts.reference)
    .map(({ n }) => n)

describe('records of a debit', () => {
  const debit = pendingDebit()
  const { reference } = debit.facts
  const opened = record('1', toDebitItem(debit))

  test('a new debit sends its two events in one message, its submission and its first timeout', async () => {
    expect(await runRelay(opened)).toEqual({ batchItemFailures: [] })
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

  test('a transition sends its event to the queue of its priority; processing starts the approval timeout', async () => {
    const processing = advanced(debit, 'processing')
    await runRelay(record('1', toDebitItem(processing), toDebitItem(debit)))
    for (const status of ['completed', 'failed'] as const) {
      const next = advanced(processing, status)
      await runRelay(record('2', toDebitItem(next), toDebitItem(processing)))
    }
    expect(sent().map(({ queue, message }) => [queue, message])).toEqual([
      ['timeouts', { reference, phase: 'approval' }],
      ['webhooks-high', { reference, n: 3, attempt: 1 }],
      ['webhooks-high', { reference, n: 3, attempt: 1 }],
      ['webhooks-medium', { reference, n: 2, attempt: 1 }],
    ])
    expect(await inFeed(debit)).toEqual([3, 2, 1, 0])
  })

  test('transitions in one batch keep their order in the feed, although a read responds late', async () => {
    process.env.CACHE_SECONDS = '0'
    const own = pendingDebit({ provider: providerId('in-order') })
    const processing = advanced(own, 'processing')
    let reads = 0
    const others = Promise.withResolvers<void>()
    const restore = aroundTableCalls(async (name, next) => {
      if (name !== 'Get') return next()
      reads += 1
      const turn = reads
      // The first read is the last to respond.
      if (turn === 1) await others.promise
      const response = await next()
      if (turn === 3) setTimeout(others.resolve, 100)
      return response
    })
    await runRelay(
      record('1', toDebitItem(own)),
      record('2', toDebitItem(processing), toDebitItem(own)),
      record('3', toDebitItem(advanced(processing, 'completed')), toDebitItem(processing)),
    )
    restore()
    delete process.env.CACHE_SECONDS
    expect(reads).toBe(3)
    expect(await inFeed(own)).toEqual([3, 2, 1, 0])
  })

  test('a repeated record sends its messages again and is in the feed once', async () => {
    await runRelay(opened)
    expect(sent()).toHaveLength(3)
    expect(await inFeed(debit)).toEqual([3, 2, 1, 0])
  })

  test('a reschedule in the work index sends nothing', async () => {
    const rescheduled = { ...toDebitItem(debit), due: inSeconds(600).toISOString() }
    expect(await runRelay(record('1', rescheduled, toDebitItem(debit)))).toEqual({
      batchItemFailures: [],
    })
    expect(sent()).toEqual([])
  })

  test('its events are only in the feed of its provider, also without a webhook', async () => {
    const other = pendingDebit({ provider: providerId('other') })
    await runRelay(record('1', toDebitItem(other)))
    expect(await listNewest(providerId('other'), 10)).toEqual([
      { reference: other.facts.reference, n: 1 },
      { reference: other.facts.reference, n: 0 },
    ])
  })
})

/** Reads a stored item, as a stream record contains it. */
const itemAt = async (key: Key): Promise<object> => (await read<object>(key)) ?? {}

describe('records of a delivery', () => {
  const { reference, provider } = pendingDebit().facts
  const event = { reference, provider, type: 'completed' as const, at: NOON }

  /** Returns a delivery as the store writes it; each has its own event number. */
  let events = 0
  const written = async (changes: Partial<Delivery>): Promise<object> => {
    events += 1
    const delivery = { ...newDelivery({ ...event, n: 3 }, {}), ...changes }
    await replaceDelivery(undefined, { ...delivery, n: events })
    return { ...(await itemAt(keys.delivery(reference, events))), n: 3 }
  }
  const waiting = { status: 'failed', attemptCount: 4, nextAttemptAt: inSeconds(16.001) } as const

  test('a failed attempt enqueues the next one with its delay; an abandoned delivery enqueues none', async () => {
    const previous = await written(waiting)
    await runRelay(record('1', previous))
    const abandoned = await written({ ...waiting, status: 'abandoned', nextAttemptAt: null })
    await runRelay(record('2', abandoned, previous))
    const message = { reference, n: 3, attempt: 5 }
    expect(sent()).toEqual([{ queue: 'webhooks-high', message, delay: 17, group: 'demo' }])
  })

  test('a redelivery is enqueued at once and replaces the attempt that is due', async () => {
    const previous = await written(waiting)
    const requested = await written({ ...waiting, status: 'pending', nextAttemptAt: NOON })
    await runRelay(record('1', requested, previous))
    expect(sent()).toMatchObject([{ message: { reference, n: 3, attempt: 5 }, delay: 0 }])
  })

  test('an overdue attempt is enqueued without a delay', async () => {
    await runRelay(record('1', await written({ ...waiting, nextAttemptAt: inSeconds(-60) })))
    expect(sent()).toMatchObject([{ delay: 0 }])
  })

  test('a reschedule in the work index sends nothing', async () => {
    const previous = await written(waiting)
    await runRelay(record('1', { ...previous, due: inSeconds(900).toISOString() }, previous))
    expect(sent()).toEqual([])
  })
})

describe('records of a recovery', () => {
  const provider = providerId('demo')
  const first = automaticRecovery({ provider, id: 'r-1', now: NOON })
  const itemOf = ({ id }: Recovery): Promise<object> => itemAt(keys.recovery(provider, id))

  test('each page is enqueued with its delay, and none after the last', async () => {
    await openRecovery(first)
    const opened = await itemOf(first)
    const second = afterPage(first, { cursor: 'c', retried: 50, isLast: false }, NOON)
    await putPage(second)
    const between = await itemOf(second)
    await putPage(afterPage(second, { cursor: 'd', retried: 3, isLast: true }, NOON))
    const done = await itemOf(first)
    await runRelay(record('1', opened))
    await runRelay(record('2', between, opened))
    await runRelay(record('3', done, between))
    expect(sent()).toEqual([
      { queue: 'recoveries', message: { provider, id: 'r-1', page: 0 }, delay: 0, group: 'demo' },
      { queue: 'recoveries', message: { provider, id: 'r-1', page: 1 }, delay: 10, group: 'demo' },
    ])
  })
})

describe('events of a slow receiver', () => {
  const slow = providerId('slow')
  beforeAll(async () => {
    await changeHealth(slow, (health) => noteSlow(health, NOON))
  })

  test('first and later attempts go to the sidelined queue; other messages do not', async () => {
    const debit = pendingDebit({ provider: slow })
    const { reference } = debit.facts
    await runRelay(record('1', toDebitItem(debit)))
    const event = { reference, n: 0, provider: slow, type: 'created' as const, at: NOON }
    await replaceDelivery(undefined, {
      ...newDelivery(event, {}),
      status: 'failed',
      attemptCount: 1,
      nextAttemptAt: inSeconds(2),
    })
    await runRelay(record('2', await itemAt(keys.delivery(reference, 0))))
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

test('a record whose messages SQS refused is reported as failed, and the others succeed', async () => {
  const [refused, sentDebit] = [pendingDebit(), pendingDebit()]
  calls
    .on(SendMessageBatchCommand)
    .resolvesOnce({ Failed: [{ Id: '0', SenderFault: false, Code: 'InternalError' }] })
    .resolves({})
  const reply = await runRelay(
    record('1', toDebitItem(refused)),
    record('2', toDebitItem(sentDebit)),
  )
  expect(reply.batchItemFailures).toHaveLength(1)
  expect(await inFeed(refused)).toEqual([1, 0])
  expect(await inFeed(sentDebit)).toEqual([1, 0])
})

test('a record whose feed write failed is reported as failed', async () => {
  const { TABLE_NAME } = process.env
  process.env.TABLE_NAME = 'no-such-table'
  expect(await runRelay(record('7', toDebitItem(pendingDebit())))).toEqual({
    batchItemFailures: [{ itemIdentifier: '7' }],
  })
  process.env.TABLE_NAME = TABLE_NAME
})

test('a record of another entity is ignored', async () => {
  expect(await runRelay(record('1', { entity: 'provider' }))).toEqual({ batchItemFailures: [] })
  expect(sent()).toEqual([])
})
