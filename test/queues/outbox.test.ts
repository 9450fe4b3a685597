import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
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
import { NOON, pendingDebit } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { rowsOf } from '../support/rows.ts'

const inSeconds = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

const pending = pendingDebit()
const { reference, provider } = pending.facts

const moved = (debit: Debit, to: Status): Debit =>
  granted(advance(debit, { to, changes: {}, at: NOON, by: 'x', requestId: 'y' }))

const processing = moved(pending, 'processing')
const failed = moved(processing, 'failed')
const reversed = moved(moved(processing, 'completed'), 'reversed')

/** As its consumer takes it. */
const taken = ({ queue, message }: Outgoing): unknown => v.parse(messages[queue], message)

describe('the first attempts at events', () => {
  const rows = rowsOf(`
    created     0  low
    pending     1  low
    processing  2  medium
    completed   3  high
    reversed    4  medium
  `)

  test.each(rows)('%s, event %i: priority %s', (name, n, priority) => {
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

  test('of one write go in one message, with the priority of the last', () => {
    const both = firstAttempts([debitEvent(processing, 1), debitEvent(processing, 2)])
    expect(both).toEqual({
      queue: 'webhooks-medium',
      message: { reference, n: 1, through: 2, attempt: 1 },
      group: provider,
    })
    expect(taken(both)).toEqual(both.message)
  })

  test('that did not happen are a mistake of ours', () => {
    expect(() => debitEvent(pending, 2)).toThrow(`${reference} has no event 2`)
  })
})

test('a submission says whether there was one before, in the group of its bank and provider', () => {
  const first = submission(pending, { resubmission: false })
  expect(first).toEqual({ queue: 'submissions', message: { reference }, group: 'GCB#demo' })
  const again = submission(pending, { resubmission: true })
  expect(again).toMatchObject({ message: { reference, resubmission: true } })
  for (const outgoing of [first, again]) expect(taken(outgoing)).toEqual(outgoing.message)
})

test.each(['approval', 'processing'] as const)('a clock is named by its phase: %s', (phase) => {
  const outgoing = startTimeout(pending, phase)
  expect(outgoing).toEqual({ queue: 'timeouts', message: { reference, phase }, group: provider })
  expect(taken(outgoing)).toEqual(outgoing.message)
})

describe('the next attempt', () => {
  const delivery = (event: EventName, changes: Partial<Delivery> = {}): Delivery => ({
    ...newDelivery({ reference, n: 2, provider, type: event, at: NOON }, {}),
    status: 'failed',
    attemptCount: 3,
    nextAttemptAt: inSeconds(8.5),
    ...changes,
  })

  test.each(Object.keys(eventTypes) as EventName[])('goes where the first one went: %s', (name) => {
    const [outgoing, ...others] = nextAttempt(delivery(name), NOON)
    expect(others).toEqual([])
    expect(outgoing).toEqual({
      queue: `webhooks-${eventTypes[name].priority}`,
      message: { reference, n: 2, attempt: 4 },
      group: provider,
      delaySeconds: 8.5,
    })
    expect(outgoing && taken(outgoing)).toEqual(outgoing?.message)
  })

  test.each([
    ['behind', -3],
    ['in step', 0],
    ['ahead', 3],
  ])('waits the whole seconds it was given, whether the clock is %s', (_how, milliseconds) => {
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

  test('that is overdue waits no longer', () => {
    const [outgoing] = nextAttempt(delivery('failed', { nextAttemptAt: inSeconds(-1) }), NOON)
    expect(outgoing?.delaySeconds).toBe(0)
  })

  test('is asked for by no record that has none to come', () => {
    for (const status of ['pending', 'delivered', 'abandoned'] as const) {
      expect(nextAttempt(delivery('failed', { status, nextAttemptAt: null }), NOON)).toEqual([])
    }
  })

  test('of a slow receiver is the same message, in the queue of such', () => {
    for (const about of nextAttempt(delivery('failed'), NOON)) {
      expect(toSidelined(about)).toEqual({ ...about, queue: 'webhooks-sidelined' })
      expect(taken(toSidelined(about))).toEqual(about.message)
    }
  })
})

test('the next page of a recovery, when it is due; none once it is done', () => {
  const first = automaticRecovery({ provider, id: 'r-1', now: NOON })
  const page = { cursor: 'c-1', taken: 50, isLast: false }
  const second = afterPage(first, page, NOON)
  const [outgoing] = nextPage(second, NOON)
  expect(outgoing).toEqual({
    queue: 'recoveries',
    message: { provider, id: 'r-1', page: 1 },
    group: provider,
    delaySeconds: 10,
  })
  expect(outgoing && taken(outgoing)).toEqual(outgoing?.message)
  expect(nextPage(second, inSeconds(11))).toMatchObject([{ delaySeconds: 0 }])
  expect(nextPage(afterPage(second, { ...page, isLast: true }, NOON), NOON)).toEqual([])
})
