import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { type Delivery, newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { type EventName, eventTypes } from '../../shared/domain/webhooks/event-type.ts'
import { afterPage, automaticRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { messages } from '../../shared/queues/messages.ts'
import {
  firstAttempts,
  nextAttempt,
  nextPage,
  startTimeout,
  submission,
  toSidelined,
} from '../../shared/queues/outbox.ts'
import type { Outgoing } from '../../shared/queues/send.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'
import { rowsOf } from '../support/rows.ts'
import { advanced } from './relay-records.ts'

const pending = pendingDebit()
const { reference, provider } = pending.facts

const processing = advanced(pending, 'processing')
const failed = advanced(processing, 'failed')
const reversed = advanced(advanced(processing, 'completed'), 'reversed')

/** Parses a message like its consumer. */
const parsed = ({ queue, message }: Outgoing): unknown => v.parse(messages[queue], message)

describe('the message of first attempts', () => {
  const rows = rowsOf(`
    created     0  low
    pending     1  low
    processing  2  medium
    completed   3  high
    reversed    4  medium
  `)

  test.each(rows)('the event %s, number %i, has priority %s', (name, n, priority) => {
    const number = Number(n)
    expect(reversed.history[number]?.type).toBe(name)
    expect(firstAttempts([debitEvent(reversed, number)])).toEqual({
      queue: `webhooks-${priority}`,
      message: { reference, n: number, attempt: 1 },
      group: provider,
    })
  })

  test('a failure has a high priority', () => {
    expect(firstAttempts([debitEvent(failed, 3)]).queue).toBe('webhooks-high')
  })

  test('events of one write share one message, with the priority of the last', () => {
    const message = firstAttempts([debitEvent(processing, 1), debitEvent(processing, 2)])
    expect(message).toEqual({
      queue: 'webhooks-medium',
      message: { reference, n: 1, through: 2, attempt: 1 },
      group: provider,
    })
    expect(parsed(message)).toEqual(message.message)
  })

  test('an event that does not exist throws', () => {
    expect(() => debitEvent(pending, 2)).toThrow(`${reference} has no event 2`)
  })
})

test('a submission is grouped by bank and provider and marks a resubmission', () => {
  const first = submission(pending, { resubmission: false })
  expect(first).toEqual({ queue: 'submissions', message: { reference }, group: 'GCB#demo' })
  const again = submission(pending, { resubmission: true })
  expect(again).toMatchObject({ message: { reference, resubmission: true } })
  for (const outgoing of [first, again]) expect(parsed(outgoing)).toEqual(outgoing.message)
})

test.each(['approval', 'processing'] as const)('a timeout message names its phase: %s', (phase) => {
  const outgoing = startTimeout(pending, phase)
  expect(outgoing).toEqual({ queue: 'timeouts', message: { reference, phase }, group: provider })
  expect(parsed(outgoing)).toEqual(outgoing.message)
})

describe('the message of the next attempt', () => {
  const delivery = (event: EventName, changes: Partial<Delivery> = {}): Delivery => ({
    ...newDelivery({ reference, n: 2, provider, type: event, at: NOON }, {}),
    status: 'failed',
    attemptCount: 3,
    nextAttemptAt: inSeconds(8.5),
    ...changes,
  })

  const names = Object.keys(eventTypes) as EventName[]
  test.each(names)('a retry goes to the queue of its first attempt: %s', (name) => {
    const [outgoing, ...rest] = nextAttempt(delivery(name), NOON)
    expect(rest).toEqual([])
    expect(outgoing).toEqual({
      queue: `webhooks-${eventTypes[name].priority}`,
      message: { reference, n: 2, attempt: 4 },
      group: provider,
      delaySeconds: 8.5,
    })
    expect(outgoing && parsed(outgoing)).toEqual(outgoing?.message)
  })

  test.each([
    ['behind', -3],
    ['in step', 0],
    ['ahead', 3],
  ])('the delay keeps its whole seconds while the clock is %s', (_clock, milliseconds) => {
    const endedAt = inSeconds(0.05)
    const last = pingAttempt(
      { kind: 'unreached', cause: 'dns' },
      { id: 'dlv_1_1', at: NOON, milliseconds: 50, address: null, sentAs: 'transaction.failed' },
    )
    const nextAttemptAt = new Date(endedAt.getTime() + 2_000)
    const now = new Date(endedAt.getTime() + milliseconds)
    const [outgoing] = nextAttempt(delivery('failed', { last, nextAttemptAt }), now)
    expect(Math.ceil(outgoing?.delaySeconds ?? 0)).toBe(2)
  })

  test('an overdue attempt has no delay', () => {
    const [outgoing] = nextAttempt(delivery('failed', { nextAttemptAt: inSeconds(-1) }), NOON)
    expect(outgoing?.delaySeconds).toBe(0)
  })

  test('a delivery without a next attempt has no message', () => {
    for (const status of ['pending', 'delivered', 'abandoned'] as const) {
      expect(nextAttempt(delivery('failed', { status, nextAttemptAt: null }), NOON)).toEqual([])
    }
  })

  test('an attempt at a slow receiver is the same message in the sidelined queue', () => {
    for (const outgoing of nextAttempt(delivery('failed'), NOON)) {
      expect(toSidelined(outgoing)).toEqual({ ...outgoing, queue: 'webhooks-sidelined' })
      expect(parsed(toSidelined(outgoing))).toEqual(outgoing.message)
    }
  })
})

test('a running recovery requests its next page with a delay; a finished one requests none', () => {
  const first = automaticRecovery({ provider, id: 'r-1', now: NOON })
  const page = { cursor: 'c-1', retried: 50, isLast: false }
  const second = afterPage(first, page, NOON)
  const [outgoing] = nextPage(second, NOON)
  expect(outgoing).toEqual({
    queue: 'recoveries',
    message: { provider, id: 'r-1', page: 1 },
    group: provider,
    delaySeconds: 10,
  })
  expect(outgoing && parsed(outgoing)).toEqual(outgoing?.message)
  expect(nextPage(second, inSeconds(11))).toMatchObject([{ delaySeconds: 0 }])
  expect(nextPage(afterPage(second, { ...page, isLast: true }, NOON), NOON)).toEqual([])
})
