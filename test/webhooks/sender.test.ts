import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { closeConnections, type Parcel, post } from '../../shared/webhooks/sender.ts'
import { closeReceivers, listening, rawReceiver, receiver } from './servers.ts'

afterEach(async () => {
  await closeReceivers()
  await closeConnections()
})

const send = (url: string, parcel: Partial<Parcel> = {}) =>
  post({ url, headers: {}, body: '{}', timeoutSeconds: 10, connectionTimeoutSeconds: 5, ...parcel })

const unreached = (cause: string) => ({ kind: 'unreached', cause })

describe('what a receiver answers is the outcome', () => {
  test.each([200, 201, 204, 299, 400, 404, 410, 429, 500, 503, 599])('%i', async (code) => {
    const url = await receiver((_, response) => response.writeHead(code).end())
    expect(await send(url)).toEqual({ kind: 'answered', code, body: '' })
  })

  const asked: [string, number | undefined][] = [
    ['0', 0],
    ['120', 120],
    ['999999999', 999_999_999],
    ['1000000000000', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['Thu, 02 Jan 2025 10:00:00 GMT', undefined],
    ['', undefined],
  ]

  test.each(asked)('Retry-After of "%s" asks for %s seconds', async (value, seconds) => {
    const url = await receiver((_, response) => {
      response.writeHead(503, { 'retry-after': value }).end('busy')
    })
    const outcome = { kind: 'answered', code: 503, body: 'busy' }
    expect(await send(url)).toEqual(
      seconds === undefined ? outcome : { ...outcome, retryAfterSeconds: seconds },
    )
  })

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (code) => {
    const visits: (string | undefined)[] = []
    const other = await receiver((request, response) => {
      visits.push(request.url)
      response.end()
    })
    const url = await receiver((_, response) => response.writeHead(code, { location: other }).end())
    expect(await send(url)).toMatchObject({ kind: 'answered', code })
    expect(visits).toEqual([])
  })
})

describe('what arrives', () => {
  test('is a POST of the exact bytes, as JSON, with the headers given', async () => {
    const body = '{"amount":100.00,"narration":"Nyansapɔ \u{1F600}"}'
    const arrived = Promise.withResolvers<unknown>()
    const url = await receiver(async (request, response) => {
      const { method, url: path, headers } = request
      arrived.resolve({ method, path, headers, body: await text(request) })
      response.end()
    })
    await send(url, { body, headers: { 'x-svc-event': 'transaction.completed' } })
    expect(await arrived.promise).toMatchObject({
      method: 'POST',
      path: '/hooks',
      body,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'accept-encoding': 'identity',
        'x-svc-event': 'transaction.completed',
      },
    })
  })
})

describe('of what a receiver says, 4 KiB are read', () => {
  test('and no more of a body that never ends', async () => {
    const url = await receiver((_, response) => {
      const fill = () => {
        while (response.write('x'.repeat(1_024))) if (response.destroyed) return
      }
      response.on('drain', fill).writeHead(200)
      fill()
    })
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'x'.repeat(4_096) })
  })

  test('and nothing is unpacked', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all')
    })
    expect(await send(url)).toMatchObject({ code: 200, body: 'not gzip at all' })
  })

  test('and a body that drips is cut at the end of the attempt, the answer being known', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(drip))
    })
    const outcome = await send(url, { timeoutSeconds: 0.3 })
    expect(outcome).toEqual({ kind: 'answered', code: 200, body: expect.stringMatching(/^\.+$/) })
  })

  test('and a body that breaks off is kept as far as it came', async () => {
    const url = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthanks')
      socket.end()
    })
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'thanks' })
  })
})

describe('a receiver that is not reached is an outcome too', () => {
  test('it never answers', async () => {
    const url = await receiver(() => undefined)
    expect(await send(url, { timeoutSeconds: 0.2 })).toEqual(unreached('read_timeout'))
  })

  test('it takes the connection and says nothing', async () => {
    const url = await listening(createNetServer())
    expect(await send(url, { timeoutSeconds: 0.2 })).toEqual(unreached('read_timeout'))
  })

  test('nobody listens', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    expect(await send(url)).toEqual(unreached('refused'))
  })

  test('its name cannot be resolved', async () => {
    expect(await send(`http://${'x'.repeat(64)}.example/`)).toEqual(unreached('dns'))
  })

  test('it speaks no TLS', async () => {
    const url = await receiver((_, response) => response.end())
    expect(await send(url.replace('http:', 'https:'))).toEqual(unreached('tls'))
  })

  test('it has no certificate', async () => {
    const url = await listening(createTlsServer(), 'https')
    expect(await send(url)).toEqual(unreached('tls'))
  })

  const hostile: Record<string, (socket: Socket) => void> = {
    'it resets the connection': (socket) => socket.resetAndDestroy(),
    'it closes the connection': (socket) => socket.end(),
    'it speaks no HTTP': (socket) => socket.end('HELLO\r\n\r\n'),
    'it floods with headers': (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`),
  }

  test.each(Object.entries(hostile))('%s', async (_what, answer) => {
    expect(await send(await rawReceiver(answer))).toEqual(unreached('broken'))
  })

  test('and the next attempt may reach it', async () => {
    let visits = 0
    const url = await receiver((request, response) => {
      visits += 1
      if (visits === 1) request.socket.resetAndDestroy()
      else response.end('thanks')
    })
    expect(await send(url)).toEqual(unreached('broken'))
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'thanks' })
  })
})
