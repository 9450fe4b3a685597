import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type EventHandlers,
  type EventStore,
  SignatureError,
  testing,
  type WebhookEvent,
  webhooks,
} from '../../sdk/typescript/src/index.ts'
import { whileListening } from '../support/servers.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const SECRET = newSecret()
const OLD = newSecret()

const REFERENCE = 'DCS-20261121-ABC123'

const eventOf = (name: string, sequence: number, fields = {}) => ({
  event: `transaction.${name}`,
  event_id: `evt_${sequence}`,
  timestamp: '2026-11-21T12:00:30.000Z',
  api_version: 'v1',
  sequence,
  data: {
    transaction: { reference: REFERENCE, status: name, amount: 100 },
    previous_status: 'processing',
    metadata: {},
  },
  ...fields,
})

const EVENT = eventOf('completed', 3)

const hex = (secret: string, body: string) =>
  createHmac('sha256', secret).update(body).digest('hex')

/** Returns headers with the published signature only. */
const published = (body: string, secret = SECRET, more = {}) => ({
  'X-SVC-Signature': hex(secret, body),
  'X-SVC-Timestamp': String(Math.floor(Date.now() / 1000)),
  ...more,
})

describe('verify', () => {
  test('`verify` accepts an event of testing.signed, as bytes or text, with any kind of headers', async () => {
    const { body, headers } = await testing.signed(EVENT, SECRET)
    const upperCase = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body).buffer]) {
      for (const source of [headers, new Headers(headers), Object.fromEntries(upperCase)]) {
        expect(await webhooks.verify(raw, source, SECRET)).toEqual(EVENT)
      }
    }
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(EVENT)
    expect(headers['x-svc-signature']).toBe(hex(SECRET, body))
  })

  test('`verify` accepts a partial event, which testing.signed completes', async () => {
    const partial = { event: 'transaction.completed', data: { transaction: { reference: 'r' } } }
    const { body, headers } = await testing.signed(partial, SECRET)
    const event = await webhooks.verify(body, headers, SECRET)
    expect(event).toMatchObject({ ...partial, event_id: expect.stringMatching(/^evt_\d+$/) })
    expect(headers['webhook-id']).toBe(event.event_id)
  })

  test('`verify` accepts a signature of each secret during a rotation', async () => {
    const { body, headers } = await testing.signed(EVENT, OLD)
    expect(await webhooks.verify(body, headers, [SECRET, OLD])).toEqual(EVENT)
    const both = `${(await testing.signed(EVENT, SECRET)).headers['webhook-signature']} ${headers['webhook-signature']}`
    const signed = { ...headers, 'webhook-signature': both }
    expect(await webhooks.verify(body, signed, OLD)).toEqual(EVENT)
  })

  test('`verify` accepts the published signature when the other header is absent', async () => {
    const body = JSON.stringify(EVENT)
    const prefixed = { 'X-SVC-Signature': `sha256=${hex(SECRET, body)}` }
    const previous = { 'X-SVC-Signature-Previous': hex(OLD, body) }
    expect(await webhooks.verify(body, published(body), SECRET)).toEqual(EVENT)
    expect(await webhooks.verify(body, published(body, SECRET, prefixed), SECRET)).toEqual(EVENT)
    expect(await webhooks.verify(body, published(body, SECRET, previous), OLD)).toEqual(EVENT)
  })

  const now = () => Math.floor(Date.now() / 1000)
  test.each<[string, (headers: Record<string, string>) => Record<string, string>]>([
    ['without signatures', () => ({})],
    [
      'whose valid published signature is next to a wrong one',
      (headers) => ({ ...headers, 'webhook-signature': 'v1,AAAA' }),
    ],
    ['with an empty signature', (headers) => ({ ...headers, 'webhook-signature': '' })],
    ['with a signature that is not base64', (h) => ({ ...h, 'webhook-signature': 'v1,%%%' })],
    [
      'with another scheme',
      (h) => ({ ...h, 'webhook-signature': `v2,${h['webhook-signature']?.slice(3)}` }),
    ],
    ['without an id', ({ 'webhook-id': _, ...headers }) => headers],
    ['with another id', (headers) => ({ ...headers, 'webhook-id': 'evt_4' })],
    ['without a time', ({ 'webhook-timestamp': _, ...headers }) => headers],
    ['signed at another time', (h) => ({ ...h, 'webhook-timestamp': String(now() + 1) })],
    ['with a time that is not a number', (h) => ({ ...h, 'webhook-timestamp': 'NaN' })],
    [
      'with an old published signature',
      ({ 'x-svc-signature': signature = '' }) => ({
        'x-svc-signature': signature,
        'x-svc-timestamp': String(now() - 301),
      }),
    ],
  ])('`verify` rejects an event %s', async (_, change) => {
    const { body, headers } = await testing.signed(EVENT, SECRET)
    await expect(webhooks.verify(body, change(headers), SECRET)).rejects.toMatchObject({
      name: 'SignatureError',
    })
  })

  test.each([-301, 301])(
    '`verify` rejects an event that was signed %i seconds from now',
    async (offset) => {
      const body = JSON.stringify(EVENT)
      const signedAt = new Date(Date.now() + offset * 1000)
      const headers = {
        'webhook-id': 'evt_3',
        'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign('evt_3', signedAt, body),
      }
      await expect(webhooks.verify(body, headers, SECRET)).rejects.toThrow('signature')
    },
  )

  test('`verify` rejects a changed body, another secret and a body without an event', async () => {
    const { body, headers } = await testing.signed(EVENT, SECRET)
    await expect(webhooks.verify(`${body} `, headers, SECRET)).rejects.toThrow('signature')
    await expect(webhooks.verify(body, headers, OLD)).rejects.toThrow('signature')
    await expect(webhooks.verify('[]', published('[]'), SECRET)).rejects.toThrow('not an event')
  })

  test('`verify` throws a TypeError for a missing secret and a parsed body', async () => {
    const { body, headers } = await testing.signed(EVENT, SECRET)
    for (const secrets of ['', [], [SECRET, ''], ['whsec_']]) {
      await expect(webhooks.verify(body, headers, secrets)).rejects.toThrow(TypeError)
    }
    await expect(webhooks.verify(EVENT as never, headers, SECRET)).rejects.toThrow(TypeError)
  })

  test('`verify` returns an event whose data follows from its type', () => {
    const statusOf = (event: WebhookEvent): string => {
      if (event.event === 'settlement.completed') return event.data.settlement.id
      if (event.event === 'ping') return event.event_id
      return event.data.transaction.status
    }
    expect(statusOf(EVENT as never)).toBe('completed')
    expectTypeOf<EventHandlers<void>>().toHaveProperty('transaction.failed')
  })
})

describe('a receiver', () => {
  type Applied = { name: string; transaction: unknown }
  let fails = false
  const applied: Applied[] = []
  const errors: unknown[] = []
  const handle = (name: string) => (_event: unknown, transaction: unknown) => {
    if (fails) throw new Error('no database')
    applied.push({ name, transaction })
  }
  const options = (store: EventStore = webhooks.memoryStore()) => {
    applied.length = 0
    errors.length = 0
    fails = false
    return {
      secrets: SECRET,
      store,
      on: {
        'transaction.processing': handle('processing'),
        'transaction.completed': handle('completed'),
        'settlement.completed': handle('settled'),
      },
      onError: (error: unknown) => errors.push(error),
    }
  }

  const requestOf = async (event: { event: string }, secret = SECRET) => {
    const { body, headers } = await testing.signed(event, secret)
    return { method: 'POST', body, headers }
  }

  const receives =
    (receive: (request: Request) => Promise<Response>) => async (event: { event: string }) =>
      (await receive(new Request('http://localhost/', await requestOf(event)))).status

  const names = () => applied.map(({ name }) => name)

  test('a receiver applies an event once', async () => {
    const receive = receives(webhooks.fetch(options()))
    expect([await receive(EVENT), await receive(EVENT)]).toEqual([204, 204])
    expect(names()).toEqual(['completed'])
  })

  test('a receiver skips an event after a later one of its debit, also after one without a handler', async () => {
    const receive = receives(webhooks.fetch(options()))
    await receive(eventOf('reversed', 4))
    expect(await receive(EVENT)).toBe(204)
    expect(names()).toEqual([])
    const other = { ...EVENT.data, transaction: { reference: 'DCS-20261121-ABC124' } }
    await receive(eventOf('completed', 3, { event_id: 'evt_9', data: other }))
    expect(names()).toEqual(['completed'])
  })

  test('a receiver answers 500 when a handler throws, and applies the retry', async () => {
    const receive = receives(webhooks.fetch(options()))
    fails = true
    expect(await receive(EVENT)).toBe(500)
    expect(errors).toEqual([expect.objectContaining({ message: 'no database' })])
    fails = false
    expect(await receive(EVENT)).toBe(204)
    expect(names()).toEqual(['completed'])
  })

  test('a receiver answers 500 when a handler throws the error of a forged event', async () => {
    const on = {
      'transaction.completed': () => {
        throw new SignatureError('another event is forged')
      },
    }
    expect(await receives(webhooks.fetch({ ...options(), on }))(EVENT)).toBe(500)
    expect(errors).toEqual([expect.any(SignatureError)])
  })

  test('a receiver applies two simultaneous attempts once', async () => {
    const receive = receives(webhooks.fetch(options()))
    expect(await Promise.all([receive(EVENT), receive(EVENT)])).toEqual([204, 204])
    expect(names()).toEqual(['completed'])
  })

  test('a receiver passes the transaction of the store to the handler', async () => {
    const transaction = { insert: 'into orders' }
    const store: EventStore<typeof transaction> = {
      apply: async (_key, work) => {
        await work(transaction)
      },
    }
    await receives(webhooks.fetch(options(store as never)))(EVENT)
    expect(applied).toEqual([{ name: 'completed', transaction }])
  })

  test.each([
    ['a ping', { event: 'ping', event_id: 'evt_p', data: {} }, []],
    ['an unknown type', eventOf('frozen', 5, { data: {} }), []],
    ['a name of the variant', eventOf('', 3, { event: 'debit_request.completed' }), ['completed']],
    [
      'a reduced payload',
      eventOf('completed', 3, { data: { reference: REFERENCE } }),
      ['completed'],
    ],
    [
      'a settlement',
      { ...eventOf('', 0), event: 'settlement.completed', data: { settlement: { id: 'STL-1' } } },
      ['settled'],
    ],
  ])('a receiver answers 204 to %s', async (_, event, expected) => {
    const receive = receives(webhooks.fetch(options()))
    expect(await receive(event)).toBe(204)
    expect(names()).toEqual(expected)
  })

  test('a receiver answers 401 to a wrong signature and 413 to a body over 1 MiB', async () => {
    const receive = webhooks.fetch(options())
    const forged = new Request('http://localhost/', await requestOf(EVENT, OLD))
    expect((await receive(forged)).status).toBe(401)
    const large = { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) }
    expect((await receive(new Request('http://localhost/', large))).status).toBe(413)
    const none = await receive(new Request('http://localhost/', { method: 'GET' }))
    expect(none.status).toBe(401)
    expect(names()).toEqual([])
  })

  test('a receiver works in Express, with and without express.raw, and rejects a parsed body', async () => {
    const app = express()
    app.post('/webhooks', webhooks.express(options()))
    app.post('/raw', express.raw({ type: '*/*' }), webhooks.express(options()))
    app.post('/parsed', express.json(), webhooks.express(options()))
    await whileListening(createServer(app), async (port) => {
      const post = async (path: string) =>
        (await fetch(`http://127.0.0.1:${port}${path}`, await requestOf(EVENT))).status
      expect(await post('/webhooks')).toBe(204)
      expect(await post('/raw')).toBe(204)
      expect(names()).toEqual(['completed', 'completed'])
      expect(await post('/parsed')).toBe(500)
      expect(errors).toEqual([
        expect.objectContaining({ message: expect.stringContaining('parsed') }),
      ])
    })
  })

  test('a receiver works in Hono', async () => {
    const app = new Hono().post('/webhooks', webhooks.hono(options()))
    expect((await app.request('/webhooks', await requestOf(EVENT))).status).toBe(204)
    expect(names()).toEqual(['completed'])
  })
})
