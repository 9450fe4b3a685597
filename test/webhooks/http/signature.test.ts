import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { DAY_MS } from '../../../shared/domain/time.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import {
  rotated,
  signatureHeaders,
  webhookSecret,
} from '../../../shared/webhooks/http/signature.ts'
import { webhook as example, inSeconds, NOON } from '../../support/examples.ts'
import { rowsOf } from '../../support/rows.ts'

const SECRET = webhookSecret(Uint8Array.from({ length: 32 }, (_, n) => n))
const OLD_SECRET = webhookSecret(new Uint8Array(32).fill(7))
const NOW = new Date('2025-01-02T10:00:00.999Z')

const signed = {
  body: '{"event":"transaction.completed","data":{"amount":100.00,"narration":"Nyansapɔ"}}',
  event: 'transaction.completed',
  eventId: 'evt_1988055307469803',
  attemptId: '1988055307469803-1',
  at: NOW,
  now: NOW,
}

const headers = rowsOf(`
  x-svc-signature    df9bb07d7e19eda70a9d97dd7131487057eaec3ca62332994fda68b073721b2a
  x-svc-event        transaction.completed
  x-svc-event-id     evt_1988055307469803
  x-svc-delivery-id  1988055307469803-1
  x-svc-timestamp    1735812000
  webhook-id         evt_1988055307469803
  webhook-timestamp  1735812000
  webhook-signature  v1,t5tU1hFJSksQsi9BpZm8SW8S+97yvKUOn3EvkByBpdk=
`)

test('an event has the published headers and those of Standard Webhooks', () => {
  expect(SECRET).toBe('whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=')
  expect(Object.entries(signatureHeaders({ secret: SECRET }, signed))).toEqual(headers)
})

test('X-SVC-Signature is the HMAC-SHA256 of the exact body, keyed with the whole secret text', () => {
  const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(webhookSecret)
  const attempts = fc.record({ body: fc.string({ unit: 'binary' }), attemptId: fc.string() })
  fc.assert(
    fc.property(secrets, attempts, fc.date({ noInvalidDate: true }), (secret, attempt, at) => {
      const expected = createHmac('sha256', Buffer.from(secret)).update(attempt.body).digest('hex')
      const sent = signatureHeaders({ secret }, { ...signed, ...attempt, at })
      expect(sent['x-svc-signature']).toBe(expected)
      const prefixed = signatureHeaders(
        { secret, signaturePrefix: 'sha256' },
        { ...signed, ...attempt, at },
      )
      expect(prefixed).toEqual({ ...sent, 'x-svc-signature': `sha256=${expected}` })
    }),
  )
})

afterEach(() => vi.useRealTimers())

test.each([
  [-1, true],
  [0, false],
  [1, false],
])('the old secret signs %i ms after the end of an overlap: %s', (milliseconds, signs) => {
  const now = new Date(NOW.getTime() + milliseconds)
  // A sandbox whose clock is three days ahead.
  const at = new Date(now.getTime() - 3 * DAY_MS)
  const signing = { secret: SECRET, previous: { secret: OLD_SECRET, until: NOW } }
  const sent = signatureHeaders(signing, { ...signed, at, now })
  const [current, old] = [SECRET, OLD_SECRET].map((secret) =>
    signatureHeaders({ secret }, { ...signed, at, now }),
  )
  const both = {
    ...current,
    'x-svc-signature-previous': old?.['x-svc-signature'],
    'webhook-signature': `${current?.['webhook-signature']} ${old?.['webhook-signature']}`,
  }
  expect(sent).toEqual(signs ? both : current)
  vi.useFakeTimers({ now: at, toFake: ['Date'] })
  const verify = (secret: string) => () => new StandardWebhook(secret).verify(signed.body, sent)
  expect(verify(SECRET)()).toEqual(JSON.parse(signed.body))
  if (signs) expect(verify(OLD_SECRET)()).toEqual(JSON.parse(signed.body))
  else expect(verify(OLD_SECRET)).toThrow('No matching signature found')
})

const rotate = (webhook: Webhook, secret: string, graceSeconds = 60) =>
  rotated(webhook, { secret, at: NOON, graceSeconds })
const first: Webhook = { ...example, secret: 'whsec_first', payload: 'reduced' }
const second = rotate(first, 'whsec_second')
const third = rotate(second, 'whsec_third', 90)

test('a rotation keeps the old secret during its overlap alone, and drops an older one', () => {
  const previous = { secret: 'whsec_first', until: inSeconds(60) }
  expect(second).toEqual({ ...first, secret: 'whsec_second', previous })
  const later = { secret: 'whsec_second', until: inSeconds(90) }
  expect(third).toEqual({ ...first, secret: 'whsec_third', previous: later })
  expect(rotate(second, 'whsec_third', 0)).toEqual({ ...first, secret: 'whsec_third' })
})

test('a repeated rotation changes nothing', () => {
  for (const one of [second, third]) expect(rotate(one, 'whsec_second')).toBe(one)
})
