import { beforeEach, expect, test } from 'vitest'
import type { Outcome } from '../../shared/domain/webhooks/attempt.ts'
import {
  abandon,
  newDelivery,
  recordAttempt,
  redeliver,
} from '../../shared/domain/webhooks/delivery.ts'
import { logAttempt, logHealthChange } from '../../shared/webhooks/telemetry.ts'
import { inSeconds, NOON, pendingDebit } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'

process.env.METRICS_DISABLED = 'false'

const { clear, lines, metrics } = captureOutput()
beforeEach(clear)

const { reference, provider } = pendingDebit().facts
const fresh = newDelivery({ reference, n: 0, type: 'created', provider, at: NOON }, {})
const timing = { id: 'dlv_1_a', at: inSeconds(3), milliseconds: 12, address: null, sentAs: 'x' }
const refused: Outcome = { kind: 'answered', code: 503, body: '' }
const untried = redeliver(abandon(fresh, 4001, NOON), NOON)
const received: Outcome = { kind: 'answered', code: 204, body: '' }
const after = (outcome: Outcome, previous = fresh) => recordAttempt(previous, outcome, timing, 0)

const took = { WebhookAttemptMilliseconds: 12 }
const first = { ...took, WebhookFirstSeconds: 3 }
const failed = { WebhookAttemptFailed: 1 }

test.each([
  ['attempted', fresh, after(received), { ...first, WebhookDelivered: 1 }],
  ['attempted', fresh, after(refused), { ...first, ...failed, WebhookFirstFailed: 1 }],
  ['attempted', after(refused), after(refused, after(refused)), { ...took, ...failed }],
  [
    'attempted',
    fresh,
    after({ kind: 'answered', code: 410, body: '' }),
    { ...first, ...failed, WebhookFirstFailed: 1, WebhookAbandoned: 1 },
  ],
  ['abandoned', fresh, abandon(fresh, 4001, NOON), { WebhookAbandoned: 1 }],
  // A redelivery after days, such as by the recovery of the webhook.
  ['attempted', untried, after(received, untried), { ...took, WebhookDelivered: 1 }],
  ['attempted', untried, after(refused, untried), { ...took, ...failed }],
])('one line logs and measures that a delivery was %s', (message, previous, delivery, figures) => {
  logAttempt(delivery, { previous, tried: message === 'attempted' })
  expect(lines()).toHaveLength(1)
  expect(lines()[0]).toMatchObject({ message: `delivery ${message}`, reference, ...figures })
  expect(metrics()).toEqual([figures])
})

test('one line logs and measures that a webhook fails', () => {
  const failing = { failingSince: NOON }
  logHealthChange(provider, {}, failing, inSeconds(86_400))
  logHealthChange(provider, failing, failing, inSeconds(2 * 86_400))
  expect(lines().map(({ message }) => message)).toEqual(['webhook failing', undefined])
  expect(metrics()).toMatchObject([{ WebhookFailingDays: 1 }, { WebhookFailingDays: 2 }])
})
