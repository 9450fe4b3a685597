import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FunctionHost } from '../../sandbox/function-host.ts'
import { type Gateway, openGateway } from '../../sandbox/gateway.ts'

let gateway: Gateway
/** Has a request timeout of 300 ms. */
let impatientGateway: Gateway

const functions: FunctionHost = {
  has: () => true,
  invoke: async (name, event) => {
    const headers = { 'x-function': name }
    return { statusCode: 200, headers, body: JSON.stringify(event) }
  },
}

beforeAll(async () => {
  gateway = await openGateway(0)
  impatientGateway = await openGateway(0, { requestTimeoutMs: 300 })
  for (const { serve } of [gateway, impatientGateway])
    serve({ functions, onReply: () => undefined })
})
afterAll(async () => {
  await gateway.stop()
  await impatientGateway.stop()
})

type RawReply = { head: string; body: string }

/** Sends raw bytes and reads until the gateway closes the connection. */
const send = async (request: string, to = gateway): Promise<RawReply> => {
  const socket = connect(Number(new URL(to.address).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { head, body }
}

const expectEnvelope = ({ head, body }: RawReply, status: number, code: number): void => {
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const lines = [
    ...['cache-control: no-store', 'x-content-type-options: nosniff', 'x-ratelimit-limit: 30'],
    ...['strict-transport-security: max-age=.*', 'x-ratelimit-remaining: 30'],
    ...['x-ratelimit-reset: [0-9]{10}', 'content-type: application/json.*'],
  ]
  for (const line of lines) expect(head).toMatch(new RegExp(`^${line}$`, 'im'))
  expect(JSON.parse(body)).toMatchObject({
    success: false,
    error: { code },
    meta: { request_id: /^x-request-id: (.*)$/im.exec(head)?.[1], api_version: 'v1' },
  })
}

describe("the gateway's own replies", () => {
  const post = 'POST /x HTTP/1.1\r\nHost: localhost\r\n'
  test.each([
    ['without HTTP', 'hello\r\n\r\n'],
    ['with two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['with a length and chunks', `${post}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['with headers over 10,240 bytes', `${post}X-Long: ${'x'.repeat(11_000)}\r\n\r\n`],
    ['with an unknown method', 'FETCH / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with CONNECT', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('a request %s receives 400/1400', async (_name, request) => {
    expectEnvelope(await send(request), 400, 1400)
  })

  test.each([
    ['an unknown expectation', 417, 1400, `${post}Expect: nonsense\r\nContent-Length: 1\r\n\r\n`],
    ['a body below its length', 504, 2408, `${post}Content-Length: 5000\r\n\r\n{"amount":`],
    ['unfinished chunks', 504, 2408, `${post}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`],
    ['unfinished headers', 504, 2408, 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
  ])('a request with %s receives %i/%i', async (_name, status, code, request) => {
    expectEnvelope(await send(request, impatientGateway), status, code)
  })

  test('a request before the functions are loaded receives 503/1503 with Retry-After', async () => {
    const starting = await openGateway(0)
    const response = await fetch(starting.address)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.json()).toMatchObject({ error: { code: 1503 } })
    await starting.stop()
  })
})

test('the host of a target in absolute form replaces the Host header', async () => {
  const get = (target: string, host: string) =>
    send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const path = '/api/v1/payment-providers/banks'
  const { body } = await get(`http://127.0.0.1${path}?page=1`, 'elsewhere.example')
  expect(JSON.parse(body)).toMatchObject({ path, queryStringParameters: { page: '1' } })
  expectEnvelope(await get(`http://elsewhere.example${path}`, 'localhost'), 403, 1403)
})

describe('Host and Origin', () => {
  const post = (headers: readonly string[], path = '/api/v1/payment-providers/banks') => {
    const lines = [...headers, 'Content-Length: 2', 'Connection: close']
    return send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{}`)
  }
  const INVOKE = '/2015-03-31/functions/manage-credential/invocations'

  test('the gateway accepts local ones', async () => {
    for (const headers of [
      ['Host: 127.0.0.1:3000'],
      ['Host: localhost'],
      ['Host: [::1]:3000'],
      ['Host: localhost:3000', 'Origin: http://localhost:5173'],
      ['Host: localhost:3000', 'Origin: http://127.0.0.1:3000'],
    ]) {
      expect((await post(headers)).head, headers.join()).toMatch(/^HTTP\/1\.1 200 /)
      expect((await post(headers, INVOKE)).head, headers.join()).toMatch(/^HTTP\/1\.1 200 /)
    }
  })

  test.each([
    [['Host: evil.example']],
    [['Host: 127.0.0.1.evil.example']],
    [['Host: localhost.evil.example:3000']],
    [['Host: 192.168.0.7:3000']],
    [['Host: evil@localhost']],
    [['Host: localhost', 'Origin: https://evil.example']],
    [['Host: localhost', 'Origin: http://localhost.evil.example']],
    [['Host: localhost', 'Origin: null', 'Content-Type: text/plain']],
  ])('the gateway rejects %j with 403, in the form of AWS for the Invoke API', async (headers) => {
    expectEnvelope(await post(headers), 403, 1403)
    const { head, body } = await post(headers, INVOKE)
    expect(head).toMatch(/^HTTP\/1\.1 403 /)
    expect(head).toMatch(/^x-amzn-errortype: AccessDeniedException$/m)
    expect(JSON.parse(body)).toMatchObject({ Type: 'User' })
  })
})

test('a body over 10 MB receives 413/1400', async () => {
  const body = 'x'.repeat(10 * 1024 * 1024 + 1)
  const response = await fetch(`${gateway.address}/x`, { method: 'POST', body })
  expect(response.status).toBe(413)
  const tooLarge = { error: { code: 1400 }, details: ['body too large'] }
  expect(await response.json()).toMatchObject(tooLarge)
})

describe('the event of a request', () => {
  const get = async (path: string, headers: string[] = []) => {
    const lines = ['Host: localhost', 'Connection: close', ...headers]
    const { head, body } = await send(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    return { name: /^x-function: (.*)$/m.exec(head)?.[1], event: JSON.parse(body) }
  }

  test.each(['%2B233241234567', '%2b233241234567', '+233241234567', '%', '%zz', '%ff', '..%2f'])(
    'contains path and parameters without decoding: %s',
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

  test('has a greedy parameter without trailing slash, or null for its parameters', async () => {
    const path = '/test/user%2Balias/'
    const pathParameters = { proxy: 'test/user%2Balias' }
    const { event } = await get(path)
    expect(event).toMatchObject({ path, resource: '/{proxy+}', pathParameters })
    expect((await get('/api/v1/payment-providers/banks')).event.pathParameters).toBeNull()
  })

  test('contains the query decoded once, with the last value as the single one', async () => {
    const { event } = await get('/x?a=1&a=2&email=test%2Balias&plus=a+b&twice=%2525&empty')
    const others = { email: ['test+alias'], plus: ['a b'], twice: ['%25'], empty: [''] }
    expect(event.multiValueQueryStringParameters).toEqual({ a: ['1', '2'], ...others })
    expect(event.queryStringParameters).toMatchObject({ a: '2', email: 'test+alias' })
    expect((await get('/x?')).event.queryStringParameters).toBeNull()
  })

  test('contains headers in their case with all values', async () => {
    const { event } = await get('/x', ['tEsT-HEADeR: aValUE', 'X-Two: 1', 'X-Two: 2'])
    expect(event.headers).toMatchObject({ 'tEsT-HEADeR': 'aValUE', 'X-Two': '2' })
    const values = { 'tEsT-HEADeR': ['aValUE'], 'X-Two': ['1', '2'] }
    expect(event.multiValueHeaders).toMatchObject(values)
  })

  test('contains the body in base64', async () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x00)
    const response = await fetch(`${gateway.address}/x`, { method: 'POST', body: bytes })
    expect(await response.json()).toMatchObject({ body: 'e/8A', isBase64Encoded: true })
  })
})
