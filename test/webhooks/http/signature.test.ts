import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Signing,
  signatureHeaders,
  webhookSecret,
} from '../../../shared/webhooks/http/signature.ts'
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
}

test('a secret is whsec_ and the base64 of 32 bytes', () => {
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

test('an event has the published headers and those of Standard Webhooks', () => {
  expect(Object.entries(signatureHeaders({ secret: SECRET }, signed))).toEqual(headers)
})

describe('X-SVC-Signature', () => {
  const signatureOf = (body: string, secret = SECRET) =>
    signatureHeaders({ secret }, { ...signed, body })['x-svc-signature']

  test('it is the HMAC-SHA256 of the exact body, keyed with the whole secret text', () => {
    for (const body of [signed.body, '{}', '', '{"narration":"\u{1F600}"}']) {
      const bytes = Buffer.from(body, 'utf8')
      const expected = createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(bytes).digest('hex')
      expect(signatureOf(body)).toBe(expected)
    }
  })

  test('it is lower-case hex', () => {
    expect(signatureOf(signed.body)).toMatch(/^[0-9a-f]{64}$/)
  })

  test('it changes with every change of the body, including a space', () => {
    expect(signatureOf(signed.body.replace(',', ', '))).not.toBe(signatureOf(signed.body))
  })

  test('it changes with the secret', () => {
    const other = webhookSecret(new Uint8Array(32))
    expect(signatureOf(signed.body, other)).not.toBe(signatureOf(signed.body))
  })

  test('it is the same in every attempt, while the attempt id differs', () => {
    const first = signatureHeaders({ secret: SECRET }, signed)
    const later = new Date(NOW.getTime() + 2_000)
    const second = signatureHeaders(
      { secret: SECRET },
      { ...signed, attemptId: 'attempt-2', at: later },
    )
    expect(second).toMatchObject({
      'x-svc-signature': first['x-svc-signature'],
      'x-svc-event-id': first['x-svc-event-id'],
      'x-svc-delivery-id': 'attempt-2',
      'x-svc-timestamp': '1735812002',
    })
    expect(second['webhook-signature']).not.toBe(first['webhook-signature'])
  })
})

test('X-SVC-Signature has the prefix sha256= for a webhook with that setting', () => {
  const prefixed = signatureHeaders({ secret: SECRET, signaturePrefix: 'sha256' }, signed)
  const plain = signatureHeaders({ secret: SECRET }, signed)
  expect(prefixed).toEqual({
    ...plain,
    'x-svc-signature': `sha256=${plain['x-svc-signature']}`,
  })
})

describe('the overlap of a rotation', () => {
  const until = new Date(NOW.getTime() + 1000)
  const rotating: Signing = { secret: SECRET, previous: { secret: OLD_SECRET, until } }
  const headersOf = (signing: Signing, at = NOW) => signatureHeaders(signing, { ...signed, at })

  test('both secrets sign: the new one first, the old one in its own header', () => {
    const [fresh, old] = [headersOf({ secret: SECRET }), headersOf({ secret: OLD_SECRET })]
    expect(headersOf(rotating)).toEqual({
      ...fresh,
      'x-svc-signature-previous': old['x-svc-signature'],
      'webhook-signature': `${fresh['webhook-signature']} ${old['webhook-signature']}`,
    })
  })

  test('both X-SVC-Signature headers have the prefix', () => {
    const prefixed = headersOf({ ...rotating, signaturePrefix: 'sha256' })
    expect(prefixed['x-svc-signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(prefixed['x-svc-signature-previous']).toMatch(/^sha256=[0-9a-f]{64}$/)
  })

  test.each([
    [until.getTime() - 1, true],
    [until.getTime(), false],
    [until.getTime() + 1, false],
  ])('at %i the old secret signs: %s', (at, signs) => {
    const sent = headersOf(rotating, new Date(at))
    expect('x-svc-signature-previous' in sent).toBe(signs)
    if (!signs) expect(sent).toEqual(headersOf({ secret: SECRET }, new Date(at)))
  })
})

describe('a receiver with the Standard Webhooks library', () => {
  const receiver = new Webhook(SECRET)
  const verified = (changes: { body?: string; headers?: Record<string, string> } = {}) =>
    receiver.verify(changes.body ?? signed.body, {
      ...signatureHeaders({ secret: SECRET }, signed),
      ...changes.headers,
    })

  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('it accepts a signed event', () => {
    expect(verified()).toEqual(JSON.parse(signed.body))
  })

  test('it rejects a changed body, id, time or secret', () => {
    const foreign = signatureHeaders({ secret: webhookSecret(new Uint8Array(32)) }, signed)
    const forged = [
      { body: signed.body.replace('100.00', '900.00') },
      { headers: { 'webhook-id': 'evt_1' } },
      { headers: { 'webhook-timestamp': '1735812001' } },
      { headers: foreign },
    ]
    for (const changes of forged) {
      expect(() => verified(changes)).toThrow(WebhookVerificationError)
    }
  })

  const overlap = { secret: OLD_SECRET, until: new Date(NOW.getTime() + 60_000) }

  test.each([
    ['the new', SECRET],
    ['the old', OLD_SECRET],
  ])('it accepts with %s secret during the overlap', (_, known) => {
    const sent = signatureHeaders({ secret: SECRET, previous: overlap }, signed)
    expect(new Webhook(known).verify(signed.body, sent)).toEqual(JSON.parse(signed.body))
  })

  test('it rejects the old secret after the overlap', () => {
    vi.setSystemTime(overlap.until)
    const late = { ...signed, at: overlap.until }
    const sent = signatureHeaders({ secret: SECRET, previous: overlap }, late)
    expect(() => new Webhook(OLD_SECRET).verify(signed.body, sent)).toThrow(
      WebhookVerificationError,
    )
    expect(new Webhook(SECRET).verify(signed.body, sent)).toEqual(JSON.parse(signed.body))
  })

  test('it rejects every combination of body, id, time and secret that was not signed', () => {
    const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(webhookSecret)
    const one = fc.record({
      body: fc.jsonValue().map((value) => JSON.stringify(value)),
      eventId: fc.bigInt(0n, 10n ** 16n).map((id) => `evt_${id}`),
      seconds: fc.integer({ min: -299, max: 299 }),
      secret: secrets,
    })
    const sentOf = ({ secret, ...of }: typeof one extends fc.Arbitrary<infer T> ? T : never) => {
      const at = new Date(NOW.getTime() + of.seconds * 1000)
      return signatureHeaders({ secret }, { ...signed, ...of, at })
    }
    fc.assert(
      fc.property(one, one, fc.subarray(['body', 'eventId', 'seconds', 'secret']), (a, b, from) => {
        // Mixes the signed event with parts of another.
        const mixed = { ...a, ...Object.fromEntries(from.map((key) => [key, b[key as 'body']])) }
        const differs = from.some((key) => a[key as 'body'] !== b[key as 'body'])
        const arrived = {
          ...sentOf(mixed),
          'x-svc-signature': sentOf(a)['x-svc-signature'] ?? '',
          'webhook-signature': sentOf(a)['webhook-signature'] ?? '',
        }
        const verify = () => new Webhook(mixed.secret).verify(mixed.body, arrived)
        if (differs) expect(verify).toThrow(WebhookVerificationError)
        else expect(verify()).toEqual(JSON.parse(a.body))
        const ofBody = sentOf(mixed)['x-svc-signature']
        const sameBody = mixed.body === a.body && mixed.secret === a.secret
        expect(ofBody === arrived['x-svc-signature']).toBe(sameBody)
      }),
    )
  })

  test('it rejects an event that is more than five minutes old', () => {
    vi.setSystemTime(NOW.getTime() + 301_000)
    expect(() => verified()).toThrow('Message timestamp too old')
  })
})
