import { createHmac } from 'node:crypto'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { signatureHeaders, webhookSecret } from '../../shared/webhooks/signature.ts'
import { rowsOf } from '../support/rows.ts'

const SECRET = webhookSecret(Uint8Array.from({ length: 32 }, (_, n) => n))
const NOW = new Date('2025-01-02T10:00:00.999Z')

const signed = {
  body: '{"event":"transaction.completed","data":{"amount":100.00,"narration":"Nyansapɔ"}}',
  event: 'transaction.completed',
  eventId: 'evt_1988055307469803',
  attemptId: '1988055307469803-1',
  at: NOW,
}

test('a secret is whsec_ and the base64 of its 32 bytes', () => {
  expect(SECRET).toBe('whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=')
})

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

test('an event carries the published headers and those of Standard Webhooks', () => {
  expect(Object.entries(signatureHeaders(SECRET, signed))).toEqual(headers)
})

describe('X-SVC-Signature', () => {
  const signatureOf = (body: string, secret = SECRET) =>
    signatureHeaders(secret, { ...signed, body })['x-svc-signature']

  test('is the HMAC-SHA256 of the exact body, keyed with the whole secret string', () => {
    for (const body of [signed.body, '{}', '', '{"narration":"\u{1F600}"}']) {
      const bytes = Buffer.from(body, 'utf8')
      const expected = createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(bytes).digest('hex')
      expect(signatureOf(body)).toBe(expected)
    }
  })

  test('is lower-case hex', () => {
    expect(signatureOf(signed.body)).toMatch(/^[0-9a-f]{64}$/)
  })

  test('changes with any change of the body, a space included', () => {
    expect(signatureOf(signed.body.replace(',', ', '))).not.toBe(signatureOf(signed.body))
  })

  test('changes with the secret', () => {
    const other = webhookSecret(new Uint8Array(32))
    expect(signatureOf(signed.body, other)).not.toBe(signatureOf(signed.body))
  })

  test('is the same at every attempt, where the name of the attempt is not', () => {
    const first = signatureHeaders(SECRET, signed)
    const later = new Date(NOW.getTime() + 2_000)
    const second = signatureHeaders(SECRET, { ...signed, attemptId: 'attempt-2', at: later })
    expect(second).toMatchObject({
      'x-svc-signature': first['x-svc-signature'],
      'x-svc-event-id': first['x-svc-event-id'],
      'x-svc-delivery-id': 'attempt-2',
      'x-svc-timestamp': '1735812002',
    })
    expect(second['webhook-signature']).not.toBe(first['webhook-signature'])
  })
})

describe('a receiver with a Standard Webhooks library', () => {
  const receiver = new Webhook(SECRET)
  const verified = (changes: { body?: string; headers?: Record<string, string> } = {}) =>
    receiver.verify(changes.body ?? signed.body, {
      ...signatureHeaders(SECRET, signed),
      ...changes.headers,
    })

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('accepts what is signed', () => {
    expect(verified()).toEqual(JSON.parse(signed.body))
  })

  test('refuses another body, another id, another time and another secret', () => {
    const stranger = signatureHeaders(webhookSecret(new Uint8Array(32)), signed)
    const forged = [
      { body: signed.body.replace('100.00', '900.00') },
      { headers: { 'webhook-id': 'evt_1' } },
      { headers: { 'webhook-timestamp': '1735812001' } },
      { headers: stranger },
    ]
    for (const changes of forged) {
      expect(() => verified(changes)).toThrow(WebhookVerificationError)
    }
  })

  test('refuses what is more than five minutes old', () => {
    vi.setSystemTime(NOW.getTime() + 301_000)
    expect(() => verified()).toThrow('Message timestamp too old')
  })
})
