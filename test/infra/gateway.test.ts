import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    meta: { request_id: /x-request-id: (.*)/i.exec(head)?.[1]?.trim(), api_version: 'v1' },
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

describe('the event of a request is as API Gateway makes it', () => {
  const get = async (path: string, headers: string[] = []) => {
    const lines = ['Host: localhost', 'Connection: close', ...headers]
    const reply = await raw(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    return { name: /^x-function: (.*)$/m.exec(head)?.[1], event: JSON.parse(body) }
  }

  test.each(['%2B233241234567', '%2b233241234567', '+233241234567', '%', '%zz', '%ff', '..%2f'])(
    'its path and its parameters are not decoded: %s',
    async (phone_number) => {
      const path = `/api/v1/payment-providers/banks/lookup/${phone_number}`
      const { name, event } = await get(path)
      expect(name).toBe('lookup-customer-banks')
      expect(event).toMatchObject({
        path,
        resource: '/api/v1/payment-providers/banks/lookup/{phone_number}',
        pathParameters: { phone_number },
        requestContext: { path, identity: { sourceIp: '127.0.0.1' } },
        body: null,
        isBase64Encoded: false,
      })
    },
  )

  test('the greedy parameter has no slash at its end', async () => {
    const { event } = await get('/test/user%2Balias/')
    expect(event).toMatchObject({
      path: '/test/user%2Balias/',
      resource: '/{proxy+}',
      pathParameters: { proxy: 'test/user%2Balias' },
    })
  })

  test('a path without parameters has null', async () => {
    expect((await get('/api/v1/payment-providers/banks')).event.pathParameters).toBeNull()
  })

  test('its query is decoded once, and the last of several values is the single one', async () => {
    const { event } = await get('/x?a=1&a=2&email=test%2Balias&plus=a+b&twice=%2525&empty')
    expect(event.multiValueQueryStringParameters).toEqual({
      a: ['1', '2'],
      email: ['test+alias'],
      plus: ['a b'],
      twice: ['%25'],
      empty: [''],
    })
    expect(event.queryStringParameters).toMatchObject({ a: '2', email: 'test+alias' })
    expect((await get('/x?')).event.queryStringParameters).toBeNull()
  })

  test('its headers keep their case and all of their values', async () => {
    const { event } = await get('/x', ['tEsT-HEADeR: aValUE', 'X-Two: 1', 'X-Two: 2'])
    expect(event.headers).toMatchObject({ 'tEsT-HEADeR': 'aValUE', 'X-Two': '2' })
    expect(event.multiValueHeaders).toMatchObject({
      'tEsT-HEADeR': ['aValUE'],
      'X-Two': ['1', '2'],
    })
  })

  test('its body is base64, so that its bytes arrive as they were sent', async () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x00)
    const response = await fetch(`${gateway.address}/x`, { method: 'POST', body: bytes })
    expect(await response.json()).toMatchObject({ body: 'e/8A', isBase64Encoded: true })
  })
})
