import { expect, test } from 'vitest'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { nextAttempt } from '../../shared/queues/outbox.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'

test.each([
  ['behind', -3],
  ['in step', 0],
  ['ahead', 3],
])('a retry keeps the whole seconds of its delay while the clock is %s', (_, milliseconds) => {
  const { reference, provider } = pendingDebit().facts
  const event = { reference, n: 3, provider, type: 'failed' as const, at: NOON }
  const timing = { id: 'dlv_1_1', at: NOON, milliseconds: 50, address: null, sentAs: 'x' }
  const last = pingAttempt({ kind: 'unreached', cause: 'dns' }, timing)
  const waiting = { status: 'failed' as const, last, nextAttemptAt: inSeconds(2.05) }
  const delivery = { ...newDelivery(event, {}), ...waiting }
  const [outgoing] = nextAttempt(delivery, inSeconds(0.05 + milliseconds / 1000))
  expect(Math.ceil(outgoing?.delaySeconds ?? 0)).toBe(2)
})
