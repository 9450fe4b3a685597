import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { type Gateway, openGateway } from '../../sandbox/gateway.ts'
import { type RawReply, sendRaw } from '../support/raw-requests.ts'

const RESPONSE_MAX = 6_291_556
/** The largest body of a reply. */
const BODY_MAX = RESPONSE_MAX - JSON.stringify({ statusCode: 200, headers: {}, body: '' }).length

const crashed: APIGatewayProxyEvent[] = []

/** Every function replies with its event, or with a body of the size in its path, or fails at /crash. */
const functions = await loadFunctions(functionRows, async ({ name }) => ({
  handler: async (event) => {
    const { path = '' } = event as APIGatewayProxyEvent
    const [, size] = /^\/([0-9]+)$/.exec(path) ?? []
    if (path === '/crash') {
      crashed.push(event as APIGatewayProxyEvent)
      throw new Error('crashed')
    }
    return size
      ? { statusCode: 200, headers: {}, body: 'x'.repeat(Number(size)) }
      : { statusCode: 200, headers: { 'x-function': name }, body: JSON.stringify(event) }
  },
}))

let gateway: Gateway
let impatientGateway: Gateway
beforeAll(async () => {
  gateway = await openGateway(0)
  impatientGateway = await openGateway(0, { requestTimeoutMs: 300 })
  for (const { serve } of [gateway, impatientGateway]) {
    serve({ functions, onReply: () => undefined })
  }
})
afterAll(() => Promise.all([gateway.stop(), impatientGateway.stop()]))

const send = (request: string, to = gateway): Promise<RawReply> => sendRaw(to.address, request)

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
    error: { code, doc_url: expect.stringMatching(`/docs/guides/errors#c${code}$`) },
    meta: { request_id: /^x-request-id: (.*)$/im.exec(head)?.[1], api_version: 'v1' },
  })
}

const post = (...headers: string[]) => ['POST /x HTTP/1.1', ...headers, '', ''].join('\r\n')
const LOCAL = 'Host: localhost'

test.each([
  ['without HTTP', 'hello\r\n\r\n'],
  ['with two lengths', post(LOCAL, 'Content-Length: 1', 'Content-Length: 2')],
  ['with a length and chunks', post(LOCAL, 'Content-Length: 1', 'Transfer-Encoding: chunked')],
  ['with headers over 10,240 bytes', post(LOCAL, `X-Long: ${'x'.repeat(11_000)}`)],
  ['with an unknown method', post(LOCAL).replace('POST', 'FETCH')],
  ['without Host', post()],
  ['with two Host headers', post(LOCAL, 'Host: 127.0.0.1')],
  ['with a repeated Host header', post(LOCAL, LOCAL)],
  ['with CONNECT', post(LOCAL).replace('POST /x', 'CONNECT localhost:80')],
])('a request %s receives 400/1400', async (_name, request) => {
  expectEnvelope(await send(request), 400, 1400)
})

test.each([
  ['an unknown expectation', 417, 1400, post(LOCAL, 'Expect: nonsense', 'Content-Length: 1')],
  ['a body below its length', 504, 2408, `${post(LOCAL, 'Content-Length: 50')}{"amount":`],
  ['unfinished chunks', 504, 2408, `${post(LOCAL, 'Transfer-Encoding: chunked')}1\r\na\r\n`],
  ['unfinished headers', 504, 2408, `POST /x HTTP/1.1\r\n${LOCAL}\r\n`],
])('a request with %s receives %i/%i', async (_name, status, code, request) => {
  expectEnvelope(await send(request, impatientGateway), status, code)
})

// Base64 makes a request of 5 MB larger than an event of 6,291,456 bytes.
test.each([
  ['response', BODY_MAX, 0, 200, undefined],
  ['response', BODY_MAX + 1, 0, 503, 1503],
  ['request', 0, 4_000_000, 200, undefined],
  ['request', 0, 5_000_000, 413, 1400],
])('a %s of %i and %i bytes has the status %i', async (_, size, bytes, status, code) => {
  const body = 'x'.repeat(bytes)
  const response = await fetch(`${gateway.address}/${size}`, { method: 'POST', body })
  expect(response.status).toBe(status)
  if (code) expect(await response.json()).toMatchObject({ success: false, error: { code } })
})

test('a body over 10 MB receives 413/1400', async () => {
  const body = 'x'.repeat(10 * 1024 * 1024 + 1)
  const response = await fetch(`${gateway.address}/x`, { method: 'POST', body })
  expect(response.status).toBe(413)
  const tooLarge = { error: { code: 1400 }, details: ['body too large'] }
  expect(await response.json()).toMatchObject(tooLarge)
})

test('the 503 after a failure of a function has the request id of its event', async () => {
  const response = await fetch(`${gateway.address}/crash`)
  const id = crashed[0]?.requestContext.extendedRequestId
  const { meta, error } = (await response.json()) as { meta: unknown; error: { code: number } }
  expect([response.status, error.code]).toEqual([503, 1503])
  expect(meta).toEqual({ timestamp: null, request_id: id, api_version: 'v1' })
  expect(response.headers.get('x-request-id')).toBe(id)
})

test('a request before the functions are loaded receives 503/1503 with Retry-After', async () => {
  const starting = await openGateway(0)
  const response = await fetch(starting.address)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(await response.json()).toMatchObject({ error: { code: 1503 } })
  await starting.stop()
})

test('the host of a target in absolute form replaces the Host header', async () => {
  const get = (target: string, host: string) =>
    send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const path = '/api/v1/payment-providers/banks'
  const { body } = await get(`http://127.0.0.1${path}?page=1`, 'elsewhere.example')
  expect(JSON.parse(body)).toMatchObject({ path, queryStringParameters: { page: '1' } })
  expectEnvelope(await get(`http://elsewhere.example${path}`, 'localhost'), 403, 1403)
})

const INVOKE = '/2015-03-31/functions/manage-credential/invocations'
const sendTo = (path: string, headers: string) => {
  const lines = [...headers.split('; '), 'Content-Length: 2', 'Connection: close']
  return send(`${post(...lines).replace('/x', path)}{}`)
}

test.each([
  'Host: 127.0.0.1:3000',
  'Host: localhost',
  'Host: [::1]:3000',
  'Host: localhost:3000; Origin: http://localhost:5173',
  'Host: localhost:3000; Origin: http://127.0.0.1:3000',
])('the gateway accepts %s', async (headers) => {
  for (const path of ['/x', INVOKE]) {
    expect((await sendTo(path, headers)).head).toMatch(/^HTTP\/1\.1 200 /)
  }
})

test.each([
  ...['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:3000', '192.168.0.7:3000'],
  ...['evil@localhost', 'localhost; Origin: https://evil.example'],
  'localhost; Origin: http://localhost.evil.example',
  'localhost; Origin: null; Content-Type: text/plain',
])('the gateway rejects Host: %s with 403, as AWS does for the Invoke API', async (host) => {
  expectEnvelope(await sendTo('/x', `Host: ${host}`), 403, 1403)
  const { head, body } = await sendTo(INVOKE, `Host: ${host}`)
  expect(head).toMatch(/^HTTP\/1\.1 403 /)
  expect(head).toMatch(/^x-amzn-errortype: AccessDeniedException$/m)
  expect(JSON.parse(body)).toMatchObject({ Type: 'User' })
})
