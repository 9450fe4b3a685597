import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { RequestListener } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { freePort } from '../../../sandbox/local-server.ts'
import { defined } from '../../../shared/domain/complete.ts'
import { type PostRequest, post, sender } from '../../../shared/webhooks/http/sender.ts'
import { strict } from '../../../shared/webhooks/http/target.ts'
import {
  connectionsTo,
  ended,
  listening,
  networkOf,
  rawReceiver,
  receiver,
  requestTo,
} from './servers.ts'

const local = networkOf({ localPeers: ['127.0.0.1'] })

/** Sends like a local sandbox, without names and TLS. */
const send = async (url: string, request: Partial<PostRequest> = {}) =>
  (await post(requestTo(url, request), local)).outcome

const answered = (body: string, code = 200) => ({ kind: 'answered', code, body })
const unreached = (cause: string) => ({ kind: 'unreached', cause })

test('an outcome has the status of the response, from 200 to 599', async () => {
  const codes = Array.from({ length: 400 }, (_, n) => 200 + n)
  const remaining = [...codes]
  const url = await receiver((_, response) => response.writeHead(remaining.shift() ?? 500).end())
  for (const code of codes) expect(await send(url)).toEqual(answered('', code))
})

test.each([
  ...[['0', 0] as const, ['120', 120] as const, ['86400', 86_400] as const],
  ...['86401', '1000000000', '9'.repeat(1_000)].map((value) => [value, 86_400] as const),
  ...['0x10', '12, 12', '-1', '1.5', '1e9', 'Thu, 02 Jan 2025 10:00:00 GMT', ''].map(
    (value) => [value, undefined] as const,
  ),
])('the header Retry-After "%s" is %s seconds', async (value, retryAfterSeconds) => {
  const url = await receiver((_, response) => {
    response.writeHead(503, { 'retry-after': value }).end('busy')
  })
  const outcome = defined({ ...answered('busy', 503), retryAfterSeconds })
  expect(await send(url)).toStrictEqual(outcome)
})

test.each([300, 301, 302, 303, 305, 307, 308])('a redirect %i is not followed', async (code) => {
  const other = await receiver((_, response) => response.end())
  const url = await receiver((_, response) => response.writeHead(code, { location: other }).end())
  expect(await send(url)).toMatchObject({ kind: 'answered', code })
  expect(connectionsTo(other)).toEqual([])
})

test('a request is a POST of the exact bytes, as JSON, with the given headers', async () => {
  const body = '{"amount":100.00,"narration":"Nyansapɔ \u{1F600}"}'
  const arrived = Promise.withResolvers<unknown>()
  const url = await receiver(async (request, response) => {
    const { method, url, headers } = request
    arrived.resolve({ method, url, headers, body: await text(request) })
    response.end()
  })
  await send(url, { body, headers: { 'x-svc-event': 'transaction.completed' } })
  expect(await arrived.promise).toMatchObject({
    method: 'POST',
    url: '/hooks',
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'accept-encoding': 'identity',
      'x-svc-event': 'transaction.completed',
    },
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
const OK = 'HTTP/1.1 200 OK\r\n'

test.each([
  ['a body of 300 MB', `${OK}content-length: 314572800\r\n\r\n`, letters],
  ['a body that never ends', `${OK}\r\n`, letters],
  ['endless chunks', `${OK}transfer-encoding: chunked\r\n\r\n`, `10000\r\n${letters}\r\n`],
])('the sender reads only 4 KiB of %s', async (_, head, piece) => {
  const { pour, written } = endless(head, piece)
  const url = await rawReceiver(pour)
  expect(await send(url)).toEqual(answered('x'.repeat(4_096)))
  await ended(connectionsTo(url)[0])
  expect(written()).toBeLessThan(16 * MIB)
})

test.each([4_095, 4_096, 4_097])('the sender stores at most 4 KiB of %i bytes', async (bytes) => {
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

test.each([
  ['of the attempt', 5, 0.3],
  ['of its own', 0.2, 10],
])('a slow body is cut at the limit %s', async (_, ...limits) => {
  const [bodySeconds, timeoutSeconds] = limits
  const url = await receiver(slowBody)
  const startedAt = performance.now()
  const sent = await sender(strict, { bodySeconds })(requestTo(url, { timeoutSeconds }), local)
  const body = expect.stringMatching(/^\.+$/)
  expect(sent.outcome).toEqual({ kind: 'answered', code: 200, body })
  expect(performance.now() - startedAt).toBeLessThan(4_000)
})

test.each([
  [6, 'end'],
  [100, 'end'],
  [6, 'resetAndDestroy'],
  [100, 'resetAndDestroy'],
] as const)('the sender stores six bytes of %i when %s follows', async (length, leave) => {
  const url = await rawReceiver((socket) => {
    onceHeadersAreThere(() => socket[leave]())
    socket.write(`${OK}content-length: ${length}\r\n\r\nthanks`)
  })
  expect(await send(url)).toEqual(answered('thanks'))
})

test('the bytes after a 204 are neither stored nor read as the next response', async () => {
  const smuggled = `${OK}content-length: 4\r\n\r\nevil`
  const url = await rawReceiver((socket) => {
    socket.write(`HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n${smuggled}`)
  })
  for (let n = 0; n < 3; n += 1) expect(await send(url)).toEqual(answered('', 204))
  expect(connectionsTo(url)).toHaveLength(3)
})

const final = `${OK}content-length: 6\r\n\r\nthanks`

// undici defines the outcome of an unexpected 100 or 101.
test.each([
  ['102 Processing', 1, answered('thanks')],
  ['103 Early Hints', 16, answered('thanks')],
  ['103 Early Hints', 17, unreached('broken')],
  ['199 Odd', 1, answered('thanks')],
  ['100 Continue', 1, unreached('broken')],
  ['101 Switching Protocols', 1, unreached('broken')],
])('the interim responses %s, %i times, end with %j', async (line, count, outcome) => {
  const interim = `HTTP/1.1 ${line}\r\n\r\n`.repeat(count)
  const url = await rawReceiver((socket) => socket.write(`${interim}${final}`))
  expect(await send(url)).toEqual(outcome)
})

const short = { timeoutSeconds: 0.2 }
const late: RequestListener = (_, response) => {
  const answer = setTimeout(() => response.end('thanks'), 400)
  response.on('close', () => clearTimeout(answer))
}
const slowHeaders = (socket: Socket) => {
  socket.write(`${OK}x-slow: `)
  const drip = setInterval(() => socket.write('.'), 20)
  socket.on('close', () => clearInterval(drip))
}
const servers: [string, () => Promise<string>][] = [
  ['responds too late', () => receiver(late)],
  ['sends slow headers', () => rawReceiver(slowHeaders)],
  ['accepts the connection only', () => listening(createNetServer())],
  ['reads nothing', () => listening(createNetServer({ pauseOnConnect: true }))],
]

test.each(servers)('an attempt is a read_timeout if the receiver %s', async (_, open) => {
  const request = { ...short, body: 'x'.repeat(8 * MIB) }
  expect(await send(await open(), request)).toEqual(unreached('read_timeout'))
})

test('an attempt does not end at the connection timeout', async () => {
  const url = await receiver(late)
  expect(await send(url, { connectionTimeoutSeconds: 0.1 })).toEqual(answered('thanks'))
})

test('an attempt is refused at a closed port', async () => {
  const sent = await post(requestTo(`http://127.0.0.1:${await freePort()}/`), local)
  expect(sent).toEqual({ outcome: unreached('refused'), address: null })
})

const ends = (reply: string) => (socket: Socket) => socket.end(reply)
const violations: [string, (socket: Socket) => void][] = [
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['closes the connection', ends('')],
  ['does not speak HTTP', ends('HELLO\r\n\r\n')],
  ['speaks HTTP/2', ends('HTTP/2 200\r\n\r\n')],
  ['sends a status without digits', ends('HTTP/1.1 OK\r\n\r\n')],
  ['sends a status of two digits', ends('HTTP/1.1 20 OK\r\n\r\n')],
  ['sends a status of four digits', ends('HTTP/1.1 2000 OK\r\n\r\n')],
  ['breaks off in its headers', ends(`${OK}x-half: `)],
  ['sends two lengths', ends(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`)],
  ['sends 20,000 headers', ends(`${OK}${'a: b\r\n'.repeat(20_000)}\r\n`)],
  ['sends an endless header', endless(`${OK}a: `, letters).pour],
  ['sends endless headers', endless(OK, 'a: b\r\n'.repeat(1_000)).pour],
  [
    'sends endless interim responses',
    endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)).pour,
  ],
]

test.each(violations)('an attempt is broken if the receiver %s', async (_, respond) => {
  expect(await send(await rawReceiver(respond))).toEqual(unreached('broken'))
})

test('a kept connection that gets bytes without a request is closed', async () => {
  const url = await rawReceiver((socket) => socket.write(final))
  expect(await send(url)).toEqual(answered('thanks'))
  const [socket] = connectionsTo(url)
  const from = performance.now()
  socket?.write(final)
  await ended(socket)
  // An idle connection ends after four seconds.
  expect(performance.now() - from).toBeLessThan(3_000)
})

test('the sender keeps at most 64 idle connections', async () => {
  const urls: string[] = []
  for (let n = 0; n < 65; n += 1) {
    urls.push(await receiver((_, response) => response.end()))
    await send(urls[n] ?? '')
  }
  const [first, second] = urls.flatMap(connectionsTo)
  await ended(first)
  expect([first?.destroyed, second?.destroyed]).toEqual([true, false])
})

test('each attempt at a receiver that closes its connections gets a new one', async () => {
  const url = await receiver((_, response) => {
    response.writeHead(200, { connection: 'close' }).end('thanks')
  })
  for (let n = 0; n < 5; n += 1) expect(await send(url)).toEqual(answered('thanks'))
  expect(connectionsTo(url)).toHaveLength(5)
})

test.each<[string, (abort: () => void) => RequestListener, unknown]>([
  [
    'before it starts',
    (abort) => {
      abort()
      return late
    },
    unreached('connect_timeout'),
  ],
  ['before the response', (abort) => () => abort(), unreached('read_timeout')],
  [
    'in the body',
    (abort) => {
      onceHeadersAreThere(() => setImmediate(abort))
      return slowBody
    },
    expect.objectContaining({ kind: 'answered', code: 200 }),
  ],
])('a caller can abort an attempt %s', async (_, answerOf, outcome) => {
  const abort = new AbortController()
  const url = await receiver(answerOf(() => abort.abort()))
  expect(await send(url, { signal: abort.signal })).toEqual(outcome)
})

test('an attempt that a caller aborted before it starts sends nothing on a kept connection', async () => {
  let requests = 0
  const url = await receiver((_, response) => {
    requests += 1
    response.end('thanks')
  })
  const outcomes = [await send(url), await send(url, { signal: AbortSignal.abort() })]
  expect(outcomes).toEqual([answered('thanks'), unreached('read_timeout')])
  expect(requests).toBe(1)
})
