import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, openGateway } from '../../infra/sandbox/gateway.ts'

/** What reaches no function is answered in the envelope all the same. */

let gateway: Gateway

beforeAll(async () => {
  gateway = await openGateway(0)
  gateway.serve(
    {
      has: () => true,
      invoke: async (name, event) => ({
        statusCode: 200,
        headers: { 'x-function': name },
        body: JSON.stringify(event),
      }),
    },
    () => undefined,
  )
})
afterAll(() => gateway.stop())

const raw = async (request: string): Promise<string> => {
  const socket = connect(Number(new URL(gateway.address).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  return text(socket)
}

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  [
    'headers over 10,240 bytes',
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(11_000)}\r\n\r\n`,
  ],
])('%s: 400/1400', async (_name, request) => {
  const [head = '', body = ''] = (await raw(request)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(JSON.parse(body)).toMatchObject({
    success: false,
    error: { code: 1400 },
    meta: { request_id: /x-request-id: (.*)/.exec(head)?.[1]?.trim(), api_version: 'v1' },
  })
})

test('a body over 10 MB: 413/1400, body too large', async () => {
  const response = await fetch(`${gateway.address}/x`, {
    method: 'POST',
    body: 'x'.repeat(10 * 1024 * 1024 + 1),
  })
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({
    error: { code: 1400 },
    details: ['body too large'],
  })
})

test('a function gets the path as it was sent, its parameters decoded, its body as bytes', async () => {
  const path = '/api/v1/payment-providers/banks/lookup/%2B233241234567'
  const response = await fetch(`${gateway.address}${path}?a=1&a=2`, {
    headers: { 'X-Forwarded-For': '203.0.113.7' },
  })
  expect(response.headers.get('x-function')).toBe('lookup-customer-banks')
  expect(await response.json()).toMatchObject({
    path,
    resource: '/api/v1/payment-providers/banks/lookup/{phone_number}',
    pathParameters: { phone_number: '+233241234567' },
    multiValueQueryStringParameters: { a: ['1', '2'] },
    requestContext: { identity: { sourceIp: '127.0.0.1' } },
    body: null,
  })
})
