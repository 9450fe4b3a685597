import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { inspect } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  closeReceivers,
  listening,
  rawReceiver,
  receiver,
  tlsReceiver,
} from '../webhooks/http/servers.ts'
import { submissionOf } from './examples.ts'
import { ACCEPTED, accepted, bankReplying, faultOf, submit } from './stub-bank.ts'

afterEach(closeReceivers)

describe('the body of a response', () => {
  // The uuid and the amount are 30 bytes longer than their placeholders.
  const padded = (length: number) => ACCEPTED.padEnd(length - 30)

  test('may have 16 KiB', async () => {
    const { url } = await bankReplying(200, padded(16_384))
    expect(await submit(url)).toEqual(accepted)
  })

  test('is a fault above 16 KiB', async () => {
    const { url } = await bankReplying(200, padded(16_385))
    expect(await faultOf(submit(url))).toBe(2002)
  })

  test('is not read on above 16 KiB', async () => {
    const url = await receiver((_, response) => {
      const fill = () => {
        while (response.write('x'.repeat(1_024))) if (response.destroyed) return
      }
      response.on('drain', fill).writeHead(200)
      fill()
    })
    expect(await faultOf(submit(url))).toBe(2002)
  })

  test('is a fault if it is compressed or not UTF-8', async () => {
    const packed = await bankReplying(200, 'not gzip', { headers: { 'content-encoding': 'gzip' } })
    expect(await faultOf(submit(packed.url))).toBe(2002)
    const body = Buffer.from(ACCEPTED.replace('HTB-1', '\u{E9}'), 'latin1')
    const latin = await bankReplying(200, body)
    expect(await faultOf(submit(latin.url))).toBe(2002)
  })
})

describe('a request times out', () => {
  const soon = { timeoutSeconds: 0.2 }

  test('if the bank does not respond', async () => {
    const url = await receiver(() => undefined)
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })

  test('if the bank only accepts the connection', async () => {
    const url = await listening(createNetServer())
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })

  test('if the body never ends, although it is well-formed so far', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200).write(ACCEPTED)
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    })
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })
})

describe('a failed connection is a fault', () => {
  test('if no server listens', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    expect(await faultOf(submit(url))).toBe(2502)
  })

  test('if the server has no certificate', async () => {
    const url = await listening(createTlsServer(), 'https')
    expect(await faultOf(submit(url))).toBe(2502)
  })

  test('if the name cannot be resolved', async () => {
    expect(await faultOf(submit(`https://${'x'.repeat(64)}.example/`))).toBe(2502)
  })

  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  const longHeaders = `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`
  const hostile: [string, number, (socket: Socket) => void][] = [
    ['the bank resets the connection', 2502, (socket) => socket.resetAndDestroy()],
    ['the bank closes the connection', 2502, (socket) => socket.end()],
    ['the body is incomplete', 2502, (socket) => socket.end(`${half}${ACCEPTED}`)],
    ['the response is not HTTP', 2002, (socket) => socket.end('HELLO\r\n\r\n')],
    ['the headers are too long', 2002, (socket) => socket.end(longHeaders)],
  ]

  test.each(hostile)('if %s: %i, without a retry', async (_, code, respond) => {
    let visits = 0
    const url = await rawReceiver((socket) => {
      visits += 1
      respond(socket)
    })
    expect(await faultOf(submit(url))).toBe(code)
    expect(visits).toBe(1)
  })
})

describe('the connector sends nothing', () => {
  test('without TLS outside the local sandbox', async () => {
    const { url, calls } = await bankReplying(200, ACCEPTED)
    expect(await faultOf(submit(url, submissionOf(), { localPeers: false }))).toBe(2001)
    expect(calls).toEqual([])
  })

  test('to a bank without a valid certificate, even if the environment allows it', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const paths: unknown[] = []
    const url = await tlsReceiver('self-signed', (request, response) => {
      paths.push(request.url)
      response.end(ACCEPTED)
    })
    expect(await faultOf(submit(url))).toBe(2502)
    expect(paths).toEqual([])
    vi.unstubAllEnvs()
  })

  test('to a bank without settings', async () => {
    const settingsOf = async () => undefined
    expect(await faultOf(submit('https://bank.test', submissionOf(), { settingsOf }))).toBe(2001)
  })
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
