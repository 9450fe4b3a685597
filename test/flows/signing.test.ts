import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../shared/api/operations.ts'
import { table, tableName } from '../../shared/store/table.ts'
import {
  CHARGE,
  chargeBody,
  printed,
  type Reply,
  sampleEvent,
  useService,
} from '../support/running-service.ts'

/** Signed requests of a provider (docs/api.md#request-signing). */

const service = useService()
const SECRET = 'rs_sandbox_signed'
const LIST = '/api/v1/payment-providers/debit-requests'

type Signing = { method?: string; path?: string; body?: string; secret?: string; at?: number }

const seconds = (): number => Math.floor(Date.now() / 1000)

const sign = ({ method = 'POST', path = CHARGE, body = '', secret = SECRET, at }: Signing) => {
  const timestamp = String(at ?? seconds())
  const text = `${method}${path}${timestamp}${body}`
  return {
    'X-Timestamp': timestamp,
    'X-Signature': createHmac('sha256', secret).update(text).digest('hex'),
  }
}

const charge = (body: string, headers: Record<string, string>): Promise<Reply> =>
  service.send('POST', CHARGE, { credential: 'sk_sandbox_signed', body, headers })

/** Sends GET with the exact target; fetch would normalize it. */
const getRaw = (target: string, headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(service.sandbox().address)
    const Authorization = 'Bearer sk_sandbox_signed'
    httpRequest(
      { host, port, path: target, headers: { ...headers, Authorization } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
      .on('error', reject)
      .end()
  })

const answer = ({ status, body }: Reply): string =>
  status < 300 ? String(status) : `${status}/${body.error.code} ${body.error.message}`

const fresh = (): string => JSON.stringify(chargeBody())

test('a signed charge is accepted, and a repeat returns the same debit', async () => {
  const body = fresh()
  const headers = sign({ body })
  const first = await charge(body, headers)
  const replayed = await charge(body, headers)
  expect([first.status, replayed.status]).toEqual([202, 202])
  expect(replayed.body.data.reference).toBe(first.body.data.reference)
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
})

describe('a rejected signature', () => {
  const body = fresh()
  const good = () => sign({ body })
  const { 'X-Signature': _s, ...unsigned } = good()
  const { 'X-Timestamp': _t, ...timeless } = good()

  const rows: [string, () => Record<string, string>, string][] = [
    ['no signature', () => unsigned, '401/1401 HMAC signature required'],
    ['no timestamp', () => timeless, '401/1401 Request timestamp required'],
    ['another secret', () => sign({ body, secret: 'rs_other' }), '401/1401 Invalid HMAC signature'],
    ['another method', () => sign({ body, method: 'PUT' }), '401/1401 Invalid HMAC signature'],
    ['another path', () => sign({ body, path: LIST }), '401/1401 Invalid HMAC signature'],
    ['another body', () => sign({ body: `${body} ` }), '401/1401 Invalid HMAC signature'],
    [
      'upper-case hex',
      () => ({ ...good(), 'X-Signature': good()['X-Signature'].toUpperCase() }),
      '401/1401 Invalid HMAC signature',
    ],
    ['301 s old', () => sign({ body, at: seconds() - 301 }), '401/1401 Request timestamp expired'],
    [
      '302 s ahead',
      () => sign({ body, at: seconds() + 302 }),
      '401/1401 Request timestamp expired',
    ],
  ]

  test.each(rows)('with %s gets the published error', async (_name, headers, expected) => {
    expect(answer(await charge(body, headers()))).toBe(expected)
  })

  test.each([
    '2026-11-21T12:00:00Z',
    '1795000000000',
    '1.795e9',
    '1795000000.0',
    '0x6afd8f80',
    '-1795000000',
    '179500000x',
  ])('with the timestamp %s gets 400/1400', async (timestamp) => {
    const headers = { ...good(), 'X-Timestamp': timestamp }
    expect(answer(await charge(body, headers))).toBe('400/1400 Invalid timestamp format')
  })
})

describe('the query string', () => {
  const list = (query: string, signed = query) =>
    service.send('GET', `${LIST}?${query}`, {
      credential: 'sk_sandbox_signed',
      headers: sign({ method: 'GET', path: `${LIST}?${signed}` }),
    })

  test('is signed as it is sent', async () => {
    expect((await list('status=completed')).status).toBe(200)
    expect((await list('status=completed&per_page=5')).status).toBe(200)
  })

  test.each([
    '?x=a+b',
    '?x=%2e',
    '?x=%2E',
    '?x=%7E',
    '?x=%c3%a9',
    '?a=1&b=2&a=3',
    '?a',
    '?',
    '?a=1&',
  ])('%s is signed as it is sent and in no other form', async (query) => {
    const banks = '/api/v1/payment-providers/banks'
    const read = (signed: string) =>
      getRaw(`${banks}${query}`, sign({ method: 'GET', path: `${banks}${signed}` }))
    expect(await read(query)).toBe(200)
    expect(await read(`${query}1`)).toBe(401)
  })

  test('that changes after signing gets 401/1401', async () => {
    for (const [sent, signed] of [
      ['status=failed', 'status=completed'],
      ['status=completed&page=2', 'status=completed'],
      ['status=completed%26page=2', 'status=completed&page=2'],
    ] as const) {
      const reply = await list(sent, signed)
      expect(answer(reply), sent).toBe('401/1401 Invalid HMAC signature')
    }
  })
})

test('the path is signed in its encoded form', async () => {
  const path = (phone: string) => `/api/v1/payment-providers/banks/lookup/${phone}`
  const read = (sent: string, signed: string) =>
    getRaw(path(sent), sign({ method: 'GET', path: path(signed) }))
  expect(await read('%2B233241234567', '%2B233241234567')).toBe(200)
  expect(await read('+233241234567', '+233241234567')).toBe(200)
  expect(await read('%2B233241234567', '+233241234567')).toBe(401)
})

test('every operation of a provider verifies signatures, also when it replies 404', async () => {
  const reference = 'DCS-20261121-ABC123'
  const parameters = {
    reference,
    id: 'STL-20261122-ABC123',
    identifier: 'GCB',
    phone_number: '%2B1',
  }
  // Each key has 30 rejections a minute; other tests use some of the common key.
  const issued = await service.operate('credential', 'issue', { provider: 'signed' })
  const credential = printed(issued).token
  for (const { caller, method, path: template } of Object.values(operations)) {
    if (caller !== 'provider') continue
    const path = template.replaceAll(
      /\{(\w+)\}/g,
      (_, name: keyof typeof parameters) => parameters[name],
    )
    const request = (headers: Record<string, string>) =>
      service.send(method, path, { credential, headers })
    expect((await request(sign({ method, path }))).status, template).not.toBe(401)
    expect((await request(sign({ method, path, secret: 'rs_other' }))).status, template).toBe(401)
  }
})

describe('the secret of a provider', () => {
  const operate = async (verb: string, options: Record<string, string>) =>
    await service.call('provider', verb, { provider: 'rotating', ...options })
  const isAccepted = async (secret?: string): Promise<boolean> => {
    const headers = secret === undefined ? {} : sign({ method: 'GET', path: LIST, secret })
    const reply = await service.send('GET', LIST, { credential: 'sk_sandbox_rotating', headers })
    return reply.status !== 401
  }
  const given = 'rs_given_by_the_provider'
  beforeAll(async () => {
    await operate('create', { name: 'Rotating', 'request-secret': given })
    const token = 'sk_sandbox_rotating'
    await service.call('credential', 'issue', { provider: 'rotating', token })
  })

  test('is neither stored in plain text nor shown to the operator', async () => {
    const { Items } = await table.send(new ScanCommand({ TableName: tableName() }))
    const items = JSON.stringify(Items)
    expect(items).toContain('"requestSigning"')
    expect(items).not.toMatch(/rs_sandbox_signed|rs_given/)
    expect(JSON.stringify(await operate('show', {}))).not.toContain('rs_')
  })

  test('is rotated with an overlap, and immediately without one', async () => {
    const first = await operate('rotate-request-secret', {})
    expect(first).toEqual({
      provider: 'rotating',
      request_secret: expect.stringMatching(/^rs_[A-Za-z0-9_-]{43}$/),
      previous_until: expect.any(String),
    })
    const day = Date.parse(first.previous_until) - Date.now()
    expect(Math.abs(day - 86_400_000)).toBeLessThan(60_000)
    expect([await isAccepted(given), await isAccepted(first.request_secret)]).toEqual([true, true])
    const second = await operate('rotate-request-secret', { 'grace-seconds': '60' })
    expect([await isAccepted(given), await isAccepted(first.request_secret)]).toEqual([false, true])
    const third = await operate('rotate-request-secret', { 'grace-seconds': '0' })
    expect(third.previous_until).toBeNull()
    expect(await isAccepted(second.request_secret)).toBe(false)
    expect(await isAccepted(third.request_secret)).toBe(true)
    expect(
      await service.operate('provider', 'rotate-request-secret', { provider: 'nobody' }),
    ).toEqual({
      error: 'no such provider',
    })
  })

  test('is kept when it is set again, replaced by another and removed', async () => {
    await operate('update', { 'request-secret': given })
    const { previous_request_secret_until: until } = await operate('show', {})
    expect(until).not.toBeNull()
    expect(await operate('update', { 'request-secret': given })).toMatchObject({
      previous_request_secret_until: until,
      signs_requests: true,
    })
    expect([await isAccepted(given), await isAccepted()]).toEqual([true, false])
    expect(await operate('update', { 'request-secret': 'none' })).toMatchObject({
      previous_request_secret_until: null,
      signs_requests: false,
    })
    expect([await isAccepted('rs_any'), await isAccepted()]).toEqual([true, true])
  })
})

test('a base64 body is verified by its bytes', async () => {
  const event = await sampleEvent('charge')
  const body = fresh()
  const credential = {
    Authorization: 'Bearer sk_sandbox_signed',
    'Content-Type': 'application/json',
  }
  const headers = { ...credential, ...sign({ body }) }
  const flagged = {
    ...event,
    headers,
    multiValueHeaders: null,
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  }
  expect(await service.invoke('charge', flagged)).toMatchObject({ statusCode: 202 })
})
