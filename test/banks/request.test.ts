import { createServer as createNetServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import { freePort } from '../../sandbox/local-server.ts'
import { listening, rawReceiver, receiver, tlsReceiver } from '../webhooks/http/servers.ts'
import { submissionOf } from './examples.ts'
import { ACCEPTED, accepted, bankReplying, faultOf, submit } from './stub-bank.ts'

test('the body of a response has at most 16 KiB', async () => {
  // The uuid and the amount are 30 bytes longer than their placeholders.
  const padded = (length: number) => ACCEPTED.padEnd(length - 30)
  expect(await submit((await bankReplying(200, padded(16_384))).url)).toEqual(accepted)
  expect(await faultOf(submit((await bankReplying(200, padded(16_385))).url))).toBe(2002)
  const endless = await receiver((_, response) => {
    const fill = () => {
      while (response.write('x'.repeat(1_024))) if (response.destroyed) return
    }
    response.on('drain', fill).writeHead(200)
    fill()
  })
  expect(await faultOf(submit(endless))).toBe(2002)
})

test.each([
  ['compressed', 'not gzip', { 'content-encoding': 'gzip' }],
  ['not UTF-8', Buffer.from(ACCEPTED.replace('HTB-1', '\u{E9}'), 'latin1'), {}],
])('a response that is %s is a fault', async (_, body, headers) => {
  const { url } = await bankReplying(200, body, { headers })
  expect(await faultOf(submit(url))).toBe(2002)
})

const drips = () =>
  receiver((_, response) => {
    response.writeHead(200).write(ACCEPTED)
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })

test.each([
  ['the bank does not respond', () => receiver(() => undefined)],
  ['the bank only accepts the connection', () => listening(createNetServer())],
  ['the body never ends, although it is well-formed so far', drips],
])('a request times out if %s', async (_, open) => {
  const url = await open()
  expect(await faultOf(submit(url, submissionOf(), { timeoutSeconds: 0.2 }))).toBe(2408)
})

test.each([
  ['no server listens', async () => `http://127.0.0.1:${await freePort()}/`],
  ['the server has no certificate', () => listening(createTlsServer(), 'https')],
  ['the name cannot be resolved', async () => `https://${'x'.repeat(64)}.example/`],
])('a connection fails if %s', async (_, open) => {
  expect(await faultOf(submit(await open()))).toBe(2502)
})

const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
const longHeaders = `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`

test.each<[string, number, (socket: Socket) => void]>([
  ['the bank resets the connection', 2502, (socket) => socket.resetAndDestroy()],
  ['the bank closes the connection', 2502, (socket) => socket.end()],
  ['the body is incomplete', 2502, (socket) => socket.end(`${half}${ACCEPTED}`)],
  ['the response is not HTTP', 2002, (socket) => socket.end('HELLO\r\n\r\n')],
  ['the headers are too long', 2002, (socket) => socket.end(longHeaders)],
])('a request fails without a retry if %s: the fault is %i', async (_, code, respond) => {
  let visits = 0
  const url = await rawReceiver((socket) => {
    visits += 1
    respond(socket)
  })
  const fault = await submit(url).catch((error: unknown) => error)
  expect(fault).toMatchObject({ code })
  expect(String(fault)).not.toContain('UND_ERR')
  expect(visits).toBe(1)
})

test('no request is sent without TLS outside the local sandbox, or without settings that can be read', async () => {
  const { url, calls } = await bankReplying(200, ACCEPTED)
  expect(await faultOf(submit(url, submissionOf(), { localPeers: [] }))).toBe(2001)
  const settingsOf = async () => undefined
  expect(await faultOf(submit(url, submissionOf(), { settingsOf }))).toBe(2001)
  // A fault of the table must not lower the health of the bank.
  const down = new Error('the table is down')
  const failing = { settingsOf: () => Promise.reject(down) }
  await expect(submit(url, submissionOf(), failing)).rejects.toBe(down)
  expect(calls).toEqual([])
})

test('a bank without a valid certificate gets no request, even if the environment allows it', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const visit = vi.fn()
  expect(await faultOf(submit(await tlsReceiver('self-signed', visit)))).toBe(2502)
  expect(visit).not.toHaveBeenCalled()
})

test('a fault never contains bytes of the response', async () => {
  const { url } = await bankReplying(503, 'private words')
  const refused = await submit(url).catch((error: Error) => error)
  expect(String(refused)).toBe('ConnectorFault: Upstream service error: HTTP 503')
  const strange = await rawReceiver((socket) => socket.end('private words'))
  const garbled = await submit(strange).catch((error: Error) => error)
  expect(inspect(garbled)).toContain('Bank API error: the response is not HTTP')
  expect(inspect(garbled)).not.toContain('private words')
})
