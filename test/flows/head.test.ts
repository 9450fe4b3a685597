import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  CHARGE,
  chargeBody,
  type RequestOptions,
  sampleEvent,
  statusPath,
  useService,
} from '../support/running-service.ts'

/** HEAD replies as GET does, without the body (RFC 9110, 9.3.2). */

const service = useService()
const PROVIDERS = '/api/v1/payment-providers'
const demo = { credential: 'sk_sandbox_demo' }
const gcb = { credential: 'bt_sandbox_gcb' }

const both = async (path: string, options: RequestOptions) => {
  const get = await service.send('GET', path, options)
  const head = await service.send('HEAD', path, options)
  return { get, head }
}

/** Headers of the connection, and the length that HEAD may omit. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'content-length'])
const named = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => !connectionHeaders.has(name)).sort()

test.each([
  ['list-banks', `${PROVIDERS}/banks`, demo, 200],
  ['get-bank', `${PROVIDERS}/banks/GCB`, demo, 200],
  ['lookup-customer-banks', `${PROVIDERS}/banks/lookup/%2B233241234567`, demo, 200],
  ['list-debit-requests', `${PROVIDERS}/debit-requests?status=completed`, demo, 200],
  ['list-deliveries', `${statusPath('DCS-20261121-000000')}/deliveries`, demo, 404],
  ['list-events', `${PROVIDERS}/events`, demo, 200],
  ['list-settlements', `${PROVIDERS}/settlements`, demo, 200],
  ['get-settlement', `${PROVIDERS}/settlements/STL-20261122-ABC123`, demo, 404],
  ['get-settlement-report', `${PROVIDERS}/settlements/x/report?format=xml`, demo, 422],
  [
    'list-debit-transactions',
    '/api/v1/banks/debit-transactions?phone_number=%2B233241234567',
    gcb,
    200,
  ],
  ['another credential', `${PROVIDERS}/banks`, gcb, 401],
])(
  'HEAD of %s has the status and headers of GET and no body',
  async (_name, path, options, status) => {
    const { get, head } = await both(path, options)
    expect([get.status, head.status]).toEqual([status, status])
    expect(named(head.headers)).toEqual(named(get.headers))
    expect(head.body).toBeUndefined()
  },
)

test('HEAD of an existing debit has the status and headers of GET', async () => {
  const { body } = await service.send('POST', CHARGE, { ...demo, body: chargeBody() })
  const { get, head } = await both(statusPath(body.data.reference), demo)
  expect([get.status, head.status]).toEqual([200, 200])
})

test('the function omits the body', async () => {
  const event = { ...(await sampleEvent('get-bank')), httpMethod: 'HEAD' }
  expect(await service.invoke('get-bank', event)).toMatchObject({ statusCode: 200, body: '' })
})

test('a signed HEAD request is verified with the method HEAD', async () => {
  const path = `${PROVIDERS}/banks`
  const head = (signed: string) => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const text = `${signed}${path}${timestamp}`
    const signature = createHmac('sha256', 'rs_sandbox_signed').update(text).digest('hex')
    const headers = { 'X-Timestamp': timestamp, 'X-Signature': signature }
    return service.send('HEAD', path, { credential: 'sk_sandbox_signed', headers })
  }
  expect((await head('HEAD')).status).toBe(200)
  expect((await head('GET')).status).toBe(401)
})

test('HEAD counts in the rate limit window of GET', async () => {
  const path = statusPath('DCS-20261121-111111')
  const statuses = new Set<number>()
  // One more than twice the limit, because the run may cross a minute.
  for (let wave = 0; wave < 11; wave += 1) {
    const replies = await Promise.all(
      Array.from({ length: 11 }, (_, n) => service.send(n % 2 ? 'HEAD' : 'GET', path, demo)),
    )
    for (const { status } of replies) statuses.add(status)
  }
  expect(statuses).toEqual(new Set([404, 429]))
})

describe('an unsupported method', () => {
  test.each([
    ['HEAD', CHARGE, 'POST'],
    ['DELETE', `${PROVIDERS}/banks`, 'GET, HEAD'],
  ])('%s %s gets 405 with Allow: %s', async (method, path, allowed) => {
    const { status, headers } = await service.send(method, path)
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe(allowed)
  })
})
