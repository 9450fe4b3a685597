import * as v from 'valibot'
import { expect, test } from 'vitest'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { type EventName, eventTypes } from '../../shared/domain/webhooks/event-type.ts'
import { messages } from '../../shared/queues/messages.ts'
import {
  firstAttempts,
  nextAttempt,
  startTimeout,
  submission,
  toSidelined,
} from '../../shared/queues/outbox.ts'
import type { Outgoing } from '../../shared/queues/send.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'
import { advanced } from './relay-records.ts'

const pending = pendingDebit()
const { reference, provider } = pending.facts
const processing = advanced(pending, 'processing')
const failed = advanced(processing, 'failed')
const reversed = advanced(advanced(processing, 'completed'), 'reversed')

/** Also parses the message like its consumer. */
const expectMessage = (outgoing: Outgoing | undefined, expected: Outgoing) => {
  expect(outgoing).toEqual(expected)
  expect(v.parse(messages[expected.queue], expected.message)).toEqual(expected.message)
}

test.each([
  ['created', reversed, 0, 'low'],
  ['pending', reversed, 1, 'low'],
  ['processing', reversed, 2, 'medium'],
  ['completed', reversed, 3, 'high'],
  ['failed', failed, 3, 'high'],
  ['reversed', reversed, 4, 'medium'],
] as const)('the first attempt of the event %s has its priority', (name, debit, n, priority) => {
  expect(debit.history[n]?.type).toBe(name)
  const queue = `webhooks-${priority}` as const
  const message = { reference, n, attempt: 1 }
  expectMessage(firstAttempts([debitEvent(debit, n)]), { queue, message, group: provider })
})

test.each([
  [submission(pending, { resubmission: false }), 'submissions', {}, 'GCB#demo'],
  [submission(pending, { resubmission: true }), 'submissions', { resubmission: true }, 'GCB#demo'],
  [startTimeout(pending, 'approval'), 'timeouts', { phase: 'approval' }, 'demo'],
  [startTimeout(pending, 'processing'), 'timeouts', { phase: 'processing' }, 'demo'],
] as const)('the message %j goes to %s with %j', (outgoing, queue, fields, group) => {
  expectMessage(outgoing, { queue, message: { reference, ...fields }, group } as Outgoing)
})

const waiting = (type: EventName) => ({
  ...newDelivery({ reference, n: 2, provider, type, at: NOON }, {}),
  status: 'failed' as const,
  attemptCount: 3,
  nextAttemptAt: inSeconds(8.5),
})

test.each(Object.keys(eventTypes) as EventName[])(
  'a retry of %s goes to the queue of its first attempt, or of slow receivers',
  (name) => {
    const [outgoing, ...rest] = nextAttempt(waiting(name), NOON)
    const queue = `webhooks-${eventTypes[name].priority}` as const
    const message = { reference, n: 2, attempt: 4 }
    const expected = { queue, message, group: provider, delaySeconds: 8.5 }
    expectMessage(outgoing, expected)
    expectMessage(outgoing && toSidelined(outgoing), { ...expected, queue: 'webhooks-sidelined' })
    expect(rest).toEqual([])
  },
)

test.each([
  ['behind', -3],
  ['in step', 0],
  ['ahead', 3],
])('the delay keeps its whole seconds while the clock is %s', (_, milliseconds) => {
  const timing = { id: 'dlv_1_1', at: NOON, milliseconds: 50, address: null, sentAs: 'x' }
  const last = pingAttempt({ kind: 'unreached', cause: 'dns' }, timing)
  const delivery = { ...waiting('failed'), last, nextAttemptAt: inSeconds(2.05) }
  const [outgoing] = nextAttempt(delivery, inSeconds(0.05 + milliseconds / 1000))
  expect(Math.ceil(outgoing?.delaySeconds ?? 0)).toBe(2)
})
