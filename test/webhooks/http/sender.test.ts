import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { defined } from '../../../shared/domain/defined.ts'
import { closeConnections } from '../../../shared/webhooks/http/connection.ts'
import { type PostRequest, post, sender } from '../../../shared/webhooks/http/sender.ts'
import { strict } from '../../../shared/webhooks/http/target.ts'
import { blackHole } from './black-hole.ts'
import { networkOf, requestTo } from './post-request.ts'
import {
  closeReceivers,
  connectionsTo,
  ended,
  listening,
  rawReceiver,
  receiver,
} from './servers.ts'

afterEach(async () => {
  await closeReceivers()
  await closeConnections()
})

const local = networkOf({ local: true })

/** Sends like a local sandbox, without names and TLS. */
const send = async (url: string, request: Partial<PostRequest> = {}) =>
  (await post(requestTo(url, request), local)).outcome

const answered = (body: string, code = 200) => ({ kind: 'answered', code, body })
const unreached = (cause: string) => ({ kind: 'unreached', cause })

describe('the outcome of a response', () => {
  test('it has the status, from 200 to 599', async () => {
    const codes = Array.from({ length: 400 }, (_, n) => 200 + n)
    const remaining = [...codes]
    const url = await receiver((_, response) => response.writeHead(remaining.shift() ?? 500).end())
    for (const code of codes) expect(await send(url)).toEqual(answered('', code))
  })

  test('it has the address of the receiver', async () => {
    const url = await receiver((_, response) => response.end('thanks'))
    expect(await post(requestTo(url), local)).toEqual({
      outcome: answered('thanks'),
      address: '127.0.0.1',
    })
  })

  const retryAfter: [string, number | undefined][] = [
    ['0', 0],
    ['120', 120],
    ['86400', 86_400],
    ['86401', 86_400],
    ['1000000000', 86_400],
    ['9'.repeat(1_000), 86_400],
    ['0x10', undefined],
    ['12, 12', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e9', undefined],
    ['soon', undefined],
    ['Thu, 02 Jan 2025 10:00:00 GMT', undefined],
    ['', undefined],
  ]

  test.each(retryAfter)('Retry-After "%s" is %s seconds', async (value, seconds) => {
    const url = await receiver((_, response) => {
      response.writeHead(503, { 'retry-after': value }).end('busy')
    })
    const outcome = { ...answered('busy', 503), retryAfterSeconds: seconds }
    expect(await send(url)).toStrictEqual(defined(outcome))
  })

  test.each([300, 301, 302, 303, 305, 307, 308])('redirect %i is not followed', async (code) => {
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

describe('the request', () => {
  test('it is a POST of the exact bytes, as JSON, with the given headers', async () => {
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

const slowBody: RequestListener = (_, response) => {
  response.writeHead(200)
  const drip = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(drip))
}

/** Acts after the sender has read the headers, because a reset discards unread bytes. */
const onceHeadersAreThere = (act: () => void) => {
  const arrived = () => {
    unsubscribe('undici:request:headers', arrived)
    act()
  }
  subscribe('undici:request:headers', arrived)
}

/** Sends endlessly, as fast as the sender reads, and counts the bytes. */
const endless = (head: string, piece: string) => {
  let written = 0
  const pour = (socket: Socket) => {
    socket.write(head)
    const fill = () => {
      while (!socket.destroyed) {
        written += piece.length
        if (!socket.write(piece)) break
      }
    }
    socket.on('drain', fill)
    fill()
  }
  return { pour, written: () => written }
}

const MIB = 1024 * 1024
const letters = 'x'.repeat(64 * 1024)

describe('the body of a response', () => {
  const bodies: Record<string, [string, string]> = {
    'a body of 300 MB': ['HTTP/1.1 200 OK\r\ncontent-length: 314572800\r\n\r\n', letters],
    'a body that never ends': ['HTTP/1.1 200 OK\r\n\r\n', letters],
    'chunks that never end': [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      `10000\r\n${letters}\r\n`,
    ],
  }

  test.each(Object.entries(bodies))(
    '4 KiB of %s are read, then the connection is closed',
    async (_, [head, piece]) => {
      const { pour, written } = endless(head, piece)
      const url = await rawReceiver(pour)
      expect(await send(url)).toEqual(answered('x'.repeat(4_096)))
      await ended(connectionsTo(url)[0])
      expect(written()).toBeLessThan(16 * MIB)
    },
  )

  test.each([4_095, 4_096, 4_097])('of %i bytes, at most 4 KiB are stored', async (bytes) => {
    const url = await receiver((_, response) => response.end('x'.repeat(bytes)))
    expect(await send(url)).toEqual(answered('x'.repeat(Math.min(bytes, 4_096))))
  })

  test('a compressed body is not decompressed', async () => {
    const packed = gzipSync(Buffer.alloc(MIB))
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    })
    expect(await send(url)).toMatchObject({ code: 200, body: packed.toString('utf8') })
  })

  test('a slow body is cut at the timeout of the attempt and keeps the status', async () => {
    const url = await receiver(slowBody)
    const outcome = await send(url, { timeoutSeconds: 0.3 })
    expect(outcome).toEqual({ kind: 'answered', code: 200, body: expect.stringMatching(/^\.+$/) })
  })

  test('a slow body is cut at its own timeout', async () => {
    const hasty = sender(strict, { bodySeconds: 0.2 })
    const url = await receiver(slowBody)
    const startedAt = performance.now()
    const { outcome } = await hasty(requestTo(url), local)
    expect(outcome).toEqual({ kind: 'answered', code: 200, body: expect.stringMatching(/^\.+$/) })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  const closings: Record<string, (socket: Socket) => void> = {
    'an end': (socket) => socket.end(),
    'a reset': (socket) => socket.resetAndDestroy(),
  }

  test.each(
    Object.entries(closings).flatMap(([closing, leave]) =>
      [6, 100].map((length) => [length, closing, leave] as const),
    ),
  )('six bytes of %i are stored when %s follows', async (length, _closing, leave) => {
    const url = await rawReceiver((socket) => {
      onceHeadersAreThere(() => leave(socket))
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\nthanks`)
    })
    expect(await send(url)).toEqual(answered('thanks'))
  })

  test('bytes after a 204 are neither stored nor read as the next response', async () => {
    const smuggled = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
    const url = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n${smuggled}`)
    })
    for (let n = 0; n < 3; n += 1) expect(await send(url)).toEqual(answered('', 204))
    expect(connectionsTo(url)).toHaveLength(3)
  })
})

describe('interim responses', () => {
  const final = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks'

  test.each(['102 Processing', '103 Early Hints', '199 Odd'])('%s is skipped', async (line) => {
    const url = await rawReceiver((socket) => socket.write(`HTTP/1.1 ${line}\r\n\r\n${final}`))
    expect(await send(url)).toEqual(answered('thanks'))
  })

  test.each(['100 Continue', '101 Switching Protocols'])(
    'an unexpected %s is a broken connection, as undici defines',
    async (line) => {
      const url = await rawReceiver((socket) => socket.write(`HTTP/1.1 ${line}\r\n\r\n${final}`))
      expect(await send(url)).toEqual(unreached('broken'))
    },
  )

  test.each([
    [16, answered('thanks')],
    [17, unreached('broken')],
  ])('at most 16 are skipped: %i end with %j', async (count, outcome) => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count)
    const url = await rawReceiver((socket) => socket.write(`${interim}${final}`))
    expect(await send(url)).toEqual(outcome)
  })

  test('an endless series of them is cut', async () => {
    const { pour, written } = endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))
    const url = await rawReceiver(pour)
    expect(await send(url)).toEqual(unreached('broken'))
    expect(written()).toBeLessThan(16 * MIB)
  })
})

describe('the outcome of an attempt without a response', () => {
  test('a receiver that never responds is a read_timeout', async () => {
    const url = await receiver(() => undefined)
    expect(await send(url, { timeoutSeconds: 0.2 })).toEqual(unreached('read_timeout'))
  })

  test('a receiver that accepts the connection only is a read_timeout', async () => {
    const url = await listening(createNetServer())
    expect(await send(url, { timeoutSeconds: 0.2 })).toEqual(unreached('read_timeout'))
  })

  test('a receiver that reads nothing is a read_timeout', async () => {
    const url = await listening(createNetServer({ pauseOnConnect: true }))
    const request = { timeoutSeconds: 0.2, body: 'x'.repeat(8 * MIB) }
    expect(await send(url, request)).toEqual(unreached('read_timeout'))
  })

  const late: RequestListener = (_, response) => {
    const answer = setTimeout(() => response.end('thanks'), 300)
    response.on('close', () => clearTimeout(answer))
  }

  test('a response after the timeout is a read_timeout', async () => {
    const url = await receiver(late)
    expect(await send(url, { timeoutSeconds: 0.1 })).toEqual(unreached('read_timeout'))
  })

  test('a response later than the connection timeout is accepted', async () => {
    const url = await receiver(late)
    expect(await send(url, { connectionTimeoutSeconds: 0.1 })).toMatchObject({ code: 200 })
  })

  test('slow headers are a read_timeout', async () => {
    const url = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
      const drip = setInterval(() => socket.write('.'), 20)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await send(url, { timeoutSeconds: 0.3 })).toEqual(unreached('read_timeout'))
  })

  test('a closed port is refused', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    expect(await post(requestTo(url), local)).toEqual({
      outcome: unreached('refused'),
      address: null,
    })
  })

  test.each([
    ['connection timeout', { connectionTimeoutSeconds: 0.2 }],
    ['limit of the attempt', { timeoutSeconds: 0.2 }],
  ])(
    'a connection that is not accepted is a connect_timeout at the %s',
    async (_limit, request) => {
      const hole = await blackHole()
      expect(await post(requestTo(hole.url, request), local)).toEqual({
        outcome: unreached('connect_timeout'),
        address: null,
      })
      await hole.close()
    },
    2_000,
  )

  const violations: Record<string, (socket: Socket) => void> = {
    'resets the connection': (socket) => socket.resetAndDestroy(),
    'closes the connection': (socket) => socket.end(),
    'does not speak HTTP': (socket) => socket.end('HELLO\r\n\r\n'),
    'speaks HTTP/2': (socket) => socket.end('HTTP/2 200\r\n\r\n'),
    'sends a status without digits': (socket) => socket.end('HTTP/1.1 OK\r\n\r\n'),
    'sends a status of two digits': (socket) => socket.end('HTTP/1.1 20 OK\r\n\r\n'),
    'sends a status of four digits': (socket) => socket.end('HTTP/1.1 2000 OK\r\n\r\n'),
    'breaks off in its headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx-half: '),
    'sends two lengths': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    'sends 20,000 headers': (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`),
    'sends an endless header': endless('HTTP/1.1 200 OK\r\na: ', letters).pour,
    'sends endless headers': endless('HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(1_000)).pour,
  }

  test.each(Object.entries(violations))('a receiver that %s is broken', async (_, respond) => {
    expect(await send(await rawReceiver(respond))).toEqual(unreached('broken'))
  })

  test('the next attempt after a reset uses a new connection', async () => {
    let visits = 0
    const url = await receiver((request, response) => {
      visits += 1
      if (visits === 1) request.socket.resetAndDestroy()
      else response.end('thanks')
    })
    expect(await send(url)).toEqual(unreached('broken'))
    expect(await send(url)).toEqual(answered('thanks'))
  })
})

describe('connections', () => {
  test('a connection with `connection: close` is not kept', async () => {
    const url = await receiver((_, response) => response.setHeader('connection', 'close').end())
    for (let n = 0; n < 3; n += 1) expect(await send(url)).toMatchObject({ code: 200 })
    expect(connectionsTo(url)).toHaveLength(3)
  })

  test('at most 64 idle connections are kept', async () => {
    const urls: string[] = []
    for (let n = 0; n < 65; n += 1) {
      const url = await receiver((_, response) => response.end())
      await send(url)
      urls.push(url)
    }
    const [first, second] = urls.flatMap(connectionsTo)
    await ended(first)
    expect([first?.destroyed, second?.destroyed]).toEqual([true, false])
  })
})
