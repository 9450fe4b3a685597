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
import { ACCEPTED, accepted, faultOf, saying, submit } from './one-bank.ts'
import { submissionOf } from './one-submission.ts'

/** What a bank may do on the wire, and the published code that the attempt ends in. */

afterEach(closeReceivers)

test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
  const other = await saying(200, ACCEPTED)
  const { url } = await saying(status, '', { location: other.url })
  expect(await faultOf(submit(url))).toBe(2001)
  expect(other.asked).toEqual([])
})

describe('of an answer, 16 KiB are read', () => {
  // The uuid and the amount are longer than the places that they fill.
  const padded = (length: number) => ACCEPTED.padEnd(length - 30)

  test('to the last byte', async () => {
    const { url } = await saying(200, padded(16_384))
    expect(await submit(url)).toEqual(accepted)
  })

  test('and one more makes it none', async () => {
    const { url } = await saying(200, padded(16_385))
    expect(await faultOf(submit(url))).toBe(2002)
  })

  test('and no more of one that never ends', async () => {
    const url = await receiver((_, response) => {
      const fill = () => {
        while (response.write('x'.repeat(1_024))) if (response.destroyed) return
      }
      response.on('drain', fill).writeHead(200)
      fill()
    })
    expect(await faultOf(submit(url))).toBe(2002)
  })

  test('and nothing is unpacked, and nothing guessed that is not UTF-8', async () => {
    const packed = await saying(200, 'not gzip at all', { 'content-encoding': 'gzip' })
    expect(await faultOf(submit(packed.url))).toBe(2002)
    const latin = await saying(200, Buffer.from(ACCEPTED.replace('HTB-1', '\u{E9}'), 'latin1'))
    expect(await faultOf(submit(latin.url))).toBe(2002)
  })
})

describe('an exchange is bounded in time', () => {
  const soon = { timeoutSeconds: 0.2 }

  test('silence', async () => {
    const url = await receiver(() => undefined)
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })

  test('a connection, and then silence', async () => {
    const url = await listening(createNetServer())
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })

  test('a body that drips, well-formed to where it came', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200).write(ACCEPTED)
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    })
    expect(await faultOf(submit(url, submissionOf(), soon))).toBe(2408)
  })
})

describe('a bank that is not reached is a failed connection', () => {
  test('nobody listens', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    expect(await faultOf(submit(url))).toBe(2502)
  })

  test('it has no certificate', async () => {
    const url = await listening(createTlsServer(), 'https')
    expect(await faultOf(submit(url))).toBe(2502)
  })

  test('its name cannot be resolved', async () => {
    expect(await faultOf(submit(`https://${'x'.repeat(64)}.example/`))).toBe(2502)
  })

  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  const hostile: [string, number, (socket: Socket) => void][] = [
    ['it resets the connection', 2502, (socket) => socket.resetAndDestroy()],
    ['it closes the connection', 2502, (socket) => socket.end()],
    ['it breaks off', 2502, (socket) => socket.end(`${half}${ACCEPTED}`)],
    ['it speaks no HTTP', 2002, (socket) => socket.end('HELLO\r\n\r\n')],
    [
      'it floods with headers',
      2002,
      (socket) => socket.end(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`),
    ],
  ]

  test.each(hostile)('%s: %i, and this attempt does not try again', async (_what, code, answer) => {
    let visits = 0
    const url = await rawReceiver((socket) => {
      visits += 1
      answer(socket)
    })
    expect(await faultOf(submit(url))).toBe(code)
    expect(visits).toBe(1)
  })
})

describe('nothing is sent', () => {
  test('without TLS to a bank, outside the sandbox on this machine', async () => {
    const { url, asked } = await saying(200, ACCEPTED)
    expect(await faultOf(submit(url, submissionOf(), { localPeers: false }))).toBe(2001)
    expect(asked).toEqual([])
  })

  test('to a bank whose certificate is not valid, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const asked: unknown[] = []
    const url = await tlsReceiver('self-signed', (request, response) => {
      asked.push(request.url)
      response.end(ACCEPTED)
    })
    expect(await faultOf(submit(url))).toBe(2502)
    expect(asked).toEqual([])
    vi.unstubAllEnvs()
  })

  test('to a bank without settings', async () => {
    const settingsOf = async () => undefined
    expect(await faultOf(submit('https://bank.test', submissionOf(), { settingsOf }))).toBe(2001)
  })
})

test('a fault says what happened, and nothing that the bank or the customer said', async () => {
  const { url } = await saying(503, 'private words')
  const refused = await submit(url).catch((error: Error) => error)
  expect(String(refused)).toBe('ConnectorFault: Upstream service error: HTTP 503')
  const strange = await rawReceiver((socket) => socket.end('private words'))
  const garbled = await submit(strange).catch((error: Error) => error)
  expect(inspect(garbled)).toContain('Bank API error: the response is not HTTP')
  expect(inspect(garbled)).not.toContain('private words')
})
