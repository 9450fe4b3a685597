import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import manifest from '../../sdk/typescript/package.json' with { type: 'json' }
import { DebitCollection, type LogEntry } from '../../sdk/typescript/src/index.ts'
import { useServer } from '../support/servers.ts'

/** The client against a server that fails in scripted ways. */

type Sent = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

const sent: Sent[] = []
let script: ((response: ServerResponse) => void)[] = []

const address = useServer(
  createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    sent.push({ method, path, headers, body: await text(request) })
    const next = script.length > 1 ? script.shift() : script[0]
    next?.(response)
  }),
)

beforeEach(() => {
  sent.length = 0
})

const REFERENCE = 'DCS-20261121-ABC123'
const BANK = { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' }
const meta = { timestamp: '2026-11-21T12:00:00.000Z', request_id: 'id-1', api_version: 'v1' }

const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const breaks = (response: ServerResponse) => response.destroy()
const hangs = () => undefined

const refuse = (status: number, code: number, more: Record<string, unknown> = {}, headers = {}) => {
  const error = { code, message: 'Refused', category: 'general', severity: 'low' }
  const id = { 'x-request-id': 'id-1' }
  return respond(status, { success: false, error, meta, ...more }, { ...id, ...headers })
}

const accepts = respond(202, {
  success: true,
  data: {
    reference: REFERENCE,
    status: 'pending',
    response: {
      uuid: 'u-1',
      status: 'pending',
      timestamp: meta.timestamp,
      reference: REFERENCE,
      bank: BANK,
    },
  },
  meta,
})

const ORDER = {
  phoneNumber: '+233241234567',
  bankIdentifier: 'GCB',
  amount: '100.00',
  narration: 'Order 1',
  partnerReference: 'order-1',
  metadata: { cart: 77 },
}

const SECRETS = { apiKey: 'sk_sandbox_secret', signingSecret: 'rs_secret' }

const client = (options = {}) => new DebitCollection({ ...SECRETS, baseUrl: address(), ...options })

/** Retry-After 0 makes a test fast and shows that the header counts. */
const AT_ONCE = { 'retry-after': '0' }

describe('charge', () => {
  test.each([
    ['a broken connection', breaks],
    ['a request timeout', refuse(408, 1503, {}, AT_ONCE)],
    ['a rate limit', refuse(429, 1456, { details: { retry_after: 0 } }, AT_ONCE)],
    ['a fault of the service', refuse(500, 1500, {}, AT_ONCE)],
    ['a proxy that fails', respond(502, '<html>Bad gateway</html>', AT_ONCE)],
    ['an unavailable service', refuse(503, 1503, {}, AT_ONCE)],
    ['a timeout of the service', refuse(504, 2408, {}, AT_ONCE)],
  ])('a charge is retried after %s, with the same body and a new signature', async (_, failure) => {
    script = [failure, accepts]
    const debit = await client().charge(ORDER)
    expect(debit).toMatchObject({ reference: REFERENCE, uuid: 'u-1', status: 'pending' })
    expect(sent).toHaveLength(2)
    expect(sent[1]?.body).toBe(sent[0]?.body)
    expect(JSON.parse(sent[1]?.body ?? '')).toEqual({
      phone_number: '+233241234567',
      bank_identifier: 'GCB',
      amount: '100.00',
      currency: 'GHS',
      narration: 'Order 1',
      partner_reference: 'order-1',
      metadata: { cart: 77 },
    })
    for (const { method, path, headers, body } of sent) {
      const message = `${method}${path}${headers['x-timestamp']}${body}`
      const expected = createHmac('sha256', 'rs_secret').update(message).digest('hex')
      expect(headers['x-signature']).toBe(expected)
      expect(headers['user-agent']).toBe(`debit-collection-typescript/${manifest.version}`)
    }
  })

  test('a charge is retried with the same body when the caller changes its metadata', async () => {
    script = [refuse(503, 1503, {}, AT_ONCE), accepts]
    const metadata = { cart: 77 }
    const log = () => {
      metadata.cart += 1
    }
    await client({ log }).charge({ ...ORDER, metadata })
    expect(sent.map(({ body }) => JSON.parse(body).metadata)).toEqual([{ cart: 77 }, { cart: 77 }])
  })

  test.each(['-1', '5, 5', 'Mon, 01 Jan 2024 00:00:00 GMT'])(
    'a charge is retried after the usual pause when Retry-After is %s',
    async (retryAfter) => {
      script = [refuse(503, 1503, {}, { 'retry-after': retryAfter }), accepts]
      const startedAt = performance.now()
      await client().charge(ORDER)
      expect(performance.now() - startedAt).toBeGreaterThan(490)
    },
  )

  test('a charge is not retried after a Retry-After of 60.5 seconds', async () => {
    script = [refuse(503, 1503, {}, { 'retry-after': '60.5' })]
    await expect(client().charge(ORDER)).rejects.toMatchObject({ retryAfter: 60.5, attempts: 1 })
  })

  test('a charge is retried after a reply that takes too long', async () => {
    script = [hangs, accepts]
    const debit = await client({ timeout: 1_000 }).charge(ORDER)
    expect(debit.reference).toBe(REFERENCE)
    expect(sent).toHaveLength(2)
  })

  test.each([
    [400, 3007, 'ValidationError', { amount: ['is invalid'] }],
    [400, 3005, 'LimitExceededError', { limit: '500.00' }],
    [400, 1400, 'ApiError', 'duplicate key in body'],
    [401, 1401, 'AuthenticationError', undefined],
    [402, 1402, 'ApiError', undefined],
    [403, 1451, 'ForbiddenError', undefined],
    [404, 3404, 'NotFoundError', undefined],
    [409, 3003, 'DuplicateReferenceError', { reference: REFERENCE, uuid: 'u', status: 'failed' }],
    [409, 1409, 'ConflictError', undefined],
    [422, 1007, 'ValidationError', { phone_number: ['is invalid'] }],
  ])('a charge is not retried after %i with code %i: %s', async (status, code, name, details) => {
    script = [refuse(status, code, { details })]
    const error = await client()
      .charge(ORDER)
      .catch((caught) => caught)
    expect(error).toMatchObject({ name, status, code, category: 'general', requestId: 'id-1' })
    expect(error.fields).toEqual(name === 'ValidationError' ? details : {})
    if (code === 3003) expect(error.existing).toEqual(details)
    expect(sent).toHaveLength(1)
  })

  test('a charge ends with the last failure when all retries fail', async () => {
    script = [refuse(429, 1456, {}, AT_ONCE)]
    const error = await client({ maxRetries: 2 })
      .charge(ORDER)
      .catch((caught) => caught)
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 0, attempts: 3 })
    expect(sent).toHaveLength(3)
  })

  test('a charge is not retried when Retry-After is above a minute', async () => {
    script = [refuse(503, 1503, {}, { 'retry-after': '3600' })]
    const error = await client()
      .charge(ORDER)
      .catch((caught) => caught)
    expect(error).toMatchObject({ name: 'ServerError', retryAfter: 3600 })
    expect(sent).toHaveLength(1)
  })

  test('a charge ends when its signal aborts, also between attempts', async () => {
    script = [refuse(503, 1503, {}, { 'retry-after': '30' })]
    const abort = new AbortController()
    const log = () => abort.abort(new Error('the customer left'))
    const charged = client({ log }).charge(ORDER, { signal: abort.signal })
    await expect(charged).rejects.toThrow('the customer left')
    expect(sent).toHaveLength(1)
  })

  test.each([
    ['an HTML page with status 200', respond(200, '<html>Welcome to the hotel</html>')],
    ['the 404 of a proxy', respond(404, '<html>Not found</html>')],
    ['a success without data', respond(202, { success: true })],
    ['a failure without an error', respond(400, { success: false, errors: [] })],
    ['a success with status 400', respond(400, { success: true, data: {} })],
  ])('a charge rejects %s, which is not from the service', async (_, reply) => {
    script = [reply]
    await expect(client().charge(ORDER)).rejects.toMatchObject({
      name: 'ServerError',
      message: expect.stringContaining('is not from the service'),
    })
    expect(sent).toHaveLength(1)
  })

  test('a charge treats `success: false` as an error with any status', async () => {
    script = [refuse(200, 3007)]
    await expect(client().charge(ORDER)).rejects.toMatchObject({ code: 3007 })
  })

  test.each([302, 303])('a charge follows no redirect with status %i', async (status) => {
    script = [respond(status, '', { location: `${address()}/elsewhere` }), accepts]
    await expect(client().charge(ORDER)).rejects.toThrow('is not from the service')
    expect(sent).toHaveLength(1)
  })
})

describe('a provider whose retries get 409', () => {
  const duplicate = refuse(409, 3003, {
    details: { reference: REFERENCE, uuid: 'u-1', status: 'processing' },
  })
  const debit = {
    uuid: 'u-1',
    reference: REFERENCE,
    status: 'processing',
    amount: '100.00',
    currency: 'GHS',
    partner_reference: 'order-1',
    narration: 'Order 1',
    created_at: meta.timestamp,
    bank: BANK,
    customer: { phone_number: '+233241234567' },
    metadata: { cart: 77, teller: 'added by the bank' },
  }
  const reads = (fields = {}) =>
    respond(200, { success: true, data: { ...debit, ...fields }, meta })

  test('the provider gets the debit that the first attempt created', async () => {
    script = [breaks, duplicate, reads()]
    expect(await client().charge(ORDER)).toEqual({
      uuid: 'u-1',
      reference: REFERENCE,
      status: 'processing',
      timestamp: meta.timestamp,
      bank: BANK,
      replayed: true,
    })
  })

  test.each([
    ['amount', { amount: '100.01' }],
    ['bank', { bank: { ...BANK, identifier: 'ECO' } }],
    ['phone number', { customer: { phone_number: '+233209876543' } }],
    ['narration', { narration: 'Order 2' }],
    ['metadata', { metadata: { cart: 78 } }],
  ])('the provider gets the error when the existing debit has another %s', async (_, fields) => {
    script = [breaks, duplicate, reads(fields)]
    await expect(client().charge(ORDER)).rejects.toMatchObject({ code: 3003, attempts: 2 })
  })

  test('the provider gets the error when the first attempt is refused', async () => {
    script = [duplicate, reads()]
    await expect(client().charge(ORDER)).rejects.toMatchObject({ code: 3003, attempts: 1 })
    expect(sent).toHaveLength(1)
  })
})

describe('an amount', () => {
  test.each([
    ['100.00', '100.00'],
    [{ pesewas: 10_000 }, '100.00'],
    [{ pesewas: 7n }, '0.07'],
  ])('the amount %o is sent as %s', async (amount, text) => {
    script = [accepts]
    await client().charge({ ...ORDER, amount })
    expect(JSON.parse(sent[0]?.body ?? '').amount).toBe(text)
  })

  test.each([100, 100.5, '100', '100.5', '1e2', { pesewas: 1.5 }, null, undefined])(
    'the amount %o is refused before anything is sent',
    async (amount) => {
      const charged = client().charge({ ...ORDER, amount } as never)
      await expect(charged).rejects.toThrow(TypeError)
      expect(sent).toHaveLength(0)
    },
  )
})

describe('the report of a settlement batch', () => {
  test('a report is downloaded without the key when it is in a bucket', async () => {
    const toBucket = respond(303, { success: true, data: {}, meta }, { location: '/bucket/report' })
    script = [toBucket, respond(200, 'reference,amount\n', { 'content-type': 'text/csv' })]
    const text = await client().settlements.report('STL-20261122-ABC123', { format: 'csv' })
    expect(text).toBe('reference,amount\n')
    expect(sent.map(({ path }) => path)).toEqual([
      '/api/v1/payment-providers/settlements/STL-20261122-ABC123/report?format=csv',
      '/bucket/report',
    ])
    expect(sent[1]?.headers).not.toHaveProperty('authorization')
    expect(sent[1]?.headers).not.toHaveProperty('x-signature')
  })

  test('a report is downloaded over the same connection each time', async () => {
    const ports = new Set<number | undefined>()
    const toBucket = respond(303, 'x'.repeat(300_000), { location: '/bucket/report' })
    const file = respond(200, 'reference\n', { 'content-type': 'text/csv' })
    for (let count = 0; count < 10; count += 1) {
      script = [toBucket, file].map((reply) => (response) => {
        ports.add(response.socket?.remotePort)
        reply(response)
      })
      await client().settlements.report('STL-20261122-ABC123', { format: 'csv' })
    }
    expect(ports.size).toBeLessThan(5)
  })

  test('a report is requested again when the bucket fails', async () => {
    const toBucket = respond(303, { success: true, data: {}, meta }, { location: '/bucket/report' })
    const report = { batch: {}, lines: [], totals: {} }
    script = [toBucket, respond(503, 'slow down', AT_ONCE), toBucket, respond(200, report)]
    expect(await client().settlements.report('STL-20261122-ABC123')).toEqual(report)
  })
})

describe('logs', () => {
  test('the logs have an entry for each attempt, without secrets and personal data', async () => {
    const entries: LogEntry[] = []
    const log = (entry: LogEntry) => entries.push(entry)
    script = [refuse(503, 1503, {}, AT_ONCE), accepts]
    await client({ log }).charge(ORDER)
    expect(entries).toEqual([
      {
        operation: 'charge',
        method: 'POST',
        path: '/api/v1/payment-providers/debit-requests/charge',
        attempt: 1,
        duration: expect.any(Number),
        status: 503,
        requestId: 'id-1',
        error: 'ServerError',
      },
      expect.objectContaining({ attempt: 2, status: 202, error: undefined }),
    ])
    script = [refuse(404, 1404)]
    await client({ log })
      .banks.lookup('+233241234567')
      .catch(() => undefined)
    expect(entries.at(-1)?.path).toBe('/api/v1/payment-providers/banks/lookup/{phone_number}')
    expect(JSON.stringify(entries)).not.toMatch(/secret|23324|Order|order-1/)
  })

  test('a log that fails does not fail the charge', async () => {
    script = [accepts]
    const log = () => {
      throw new Error('disk full')
    }
    expect(await client({ log }).charge(ORDER)).toMatchObject({ reference: REFERENCE })
  })

  test('an inspected client and its errors show neither secrets nor personal data', async () => {
    script = [refuse(422, 1007, { details: { phone_number: ['is invalid'] } })]
    const debits = client()
    const error = await debits.charge(ORDER).catch((caught) => caught)
    const shown = inspect(debits, { depth: 9, showHidden: true }) + inspect(error, { depth: 9 })
    expect(shown).not.toMatch(/_secret|23324|Order 1/)
  })
})

describe('waitFor', () => {
  const reads = respond(200, { success: true, data: { status: 'completed' }, meta })

  test('a wait is not delayed by waits that ended before their turn', async () => {
    script = [reads]
    const debits = client()
    const abort = new AbortController()
    const ended = Array.from({ length: 100 }, () =>
      debits.waitFor(REFERENCE, { signal: abort.signal }).catch(({ name }) => name),
    )
    abort.abort()
    expect(await debits.waitFor(REFERENCE, { timeout: 2_000 })).toEqual({ status: 'completed' })
    expect(new Set(await Promise.all(ended))).toEqual(new Set(['AbortError']))
  })

  test('the waits of a client read at most once in 75 ms', async () => {
    script = [reads]
    const debits = client()
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 5 }, () => debits.waitFor(REFERENCE)))
    expect(performance.now() - startedAt).toBeGreaterThan(295)
  })
})

test.each(['', undefined])('a debit is not found by the partnerReference %o', async (reference) => {
  script = [respond(200, { success: true, data: [{}], meta: { has_more: false } })]
  await expect(client().findByPartnerReference(reference as never)).rejects.toThrow(TypeError)
})

test.each([
  [{ apiKey: '' }],
  [{ apiKey: 'sk_secret\n' }],
  [{ baseUrl: 'api.example.com' }],
  [{ baseUrl: 'localhost:3000' }],
  [{ baseUrl: 'https://user:sk_secret@api.example.com' }],
  [{ baseUrl: 'https://api.example.com/?stage=live' }],
  [{ baseUrl: 'https://api.example.com/#top' }],
])('the options %o are refused without showing the key', (options) => {
  expect(() => client(options)).toThrow(TypeError)
  expect(() => client(options)).not.toThrow(/sk_secret/)
})

test.each(['', '.', '..'])(
  'a reference %o is refused, because it would change the path',
  (reference) => {
    return expect(client().get(reference)).rejects.toThrow(TypeError)
  },
)
