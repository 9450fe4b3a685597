import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  CHARGE,
  chargeBody,
  type Reply,
  sampleEvent,
  useService,
} from '../support/running-service.ts'

/** A partner that signs its requests (specification, Authentication, 6), over HTTP. */

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

const answer = ({ status, body }: Reply): string =>
  status < 300 ? String(status) : `${status}/${body.error.code} ${body.error.message}`

const fresh = (): string => JSON.stringify(chargeBody())

test('a signed charge is accepted, and repeated it is the same debit', async () => {
  const body = fresh()
  const headers = sign({ body })
  const first = await charge(body, headers)
  const replayed = await charge(body, headers)
  expect([first.status, replayed.status]).toEqual([202, 202])
  expect(replayed.body.data.reference).toBe(first.body.data.reference)
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
})

describe('what is refused', () => {
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

  test.each(rows)('%s', async (_name, headers, expected) => {
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
  ])('timestamp %s: 400/1400', async (timestamp) => {
    const headers = { ...good(), 'X-Timestamp': timestamp }
    expect(answer(await charge(body, headers))).toBe('400/1400 Invalid timestamp format')
  })
})

describe('a query', () => {
  const list = (query: string, signed = query) =>
    service.send('GET', `${LIST}?${query}`, {
      credential: 'sk_sandbox_signed',
      headers: sign({ method: 'GET', path: `${LIST}?${signed}` }),
    })

  test('is signed as it is sent', async () => {
    expect((await list('status=completed')).status).toBe(200)
    expect((await list('status=completed&per_page=5')).status).toBe(200)
  })

  test('that was changed after signing: 401/1401', async () => {
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

test('a body that the gateway flags as base64 is verified by its bytes', async () => {
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
