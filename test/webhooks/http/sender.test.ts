import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import {
  closeConnections,
  type PostRequest,
  post,
  sender,
} from '../../../shared/webhooks/http/sender.ts'
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

/** As the sandbox on this machine sends; what is measured here needs no name and no TLS. */
const send = async (url: string, request: Partial<PostRequest> = {}) => {
  const { outcome } = await post(requestTo(url, request), networkOf({ local: true }))
  return outcome
}

const unreached = (cause: string) => ({ kind: 'unreached', cause })

describe('what a receiver answers is the outcome', () => {
  test('every status from 200 to 599 as it stands', async () => {
    const codes = Array.from({ length: 400 }, (_, n) => 200 + n)
    const left = [...codes]
    const url = await receiver((_, response) => response.writeHead(left.shift() ?? 500).end())
    for (const code of codes) {
      expect(await send(url)).toEqual({ kind: 'answered', code, body: '' })
    }
  })

  test('with the address that answered', async () => {
    const url = await receiver((_, response) => response.end('thanks'))
    expect(await post(requestTo(url), networkOf({ local: true }))).toEqual({
      outcome: { kind: 'answered', code: 200, body: 'thanks' },
      address: '127.0.0.1',
    })
  })

  const asked: [string, number | undefined][] = [
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

  test.each(asked)('Retry-After of "%s" asks for %s seconds', async (value, seconds) => {
    const url = await receiver((_, response) => {
      response.writeHead(503, { 'retry-after': value }).end('busy')
    })
    const outcome = { kind: 'answered', code: 503, body: 'busy' }
    expect(await send(url)).toEqual(
      seconds === undefined ? outcome : { ...outcome, retryAfterSeconds: seconds },
    )
  })

  test.each([300, 301, 302, 303, 305, 307, 308])('%i is not followed', async (code) => {
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

const dripping: RequestListener = (_, response) => {
  response.writeHead(200)
  const drip = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(drip))
}

/** A receiver cannot know what was read of it, and a reset takes back what was not. */
const onceHeadersAreThere = (act: () => void) => {
  const arrived = () => {
    unsubscribe('undici:request:headers', arrived)
    act()
  }
  subscribe('undici:request:headers', arrived)
}

/** Sends for ever, as fast as it is read, and counts what the other side's system took. */
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

describe('of what a receiver says, 4 KiB are read', () => {
  const bodies: Record<string, [string, string]> = {
    'a body of 300 MB': ['HTTP/1.1 200 OK\r\ncontent-length: 314572800\r\n\r\n', letters],
    'a body that never ends': ['HTTP/1.1 200 OK\r\n\r\n', letters],
    'chunks that never end': [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      `10000\r\n${letters}\r\n`,
    ],
  }

  test.each(Object.entries(bodies))('of %s, and the connection ends', async (_, [head, piece]) => {
    const { pour, written } = endless(head, piece)
    const url = await rawReceiver(pour)
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'x'.repeat(4_096) })
    await ended(connectionsTo(url)[0])
    expect(written()).toBeLessThan(16 * MIB)
  })

  test.each([4_095, 4_096, 4_097])('of %i bytes', async (bytes) => {
    const url = await receiver((_, response) => response.end('x'.repeat(bytes)))
    const body = 'x'.repeat(Math.min(bytes, 4_096))
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body })
  })

  test('and nothing is unpacked', async () => {
    const packed = gzipSync(Buffer.alloc(MIB))
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
    })
    expect(await send(url)).toMatchObject({ code: 200, body: packed.toString('utf8') })
  })

  test('and a body that drips is cut at the end of the attempt, the answer being known', async () => {
    const url = await receiver(dripping)
    const outcome = await send(url, { timeoutSeconds: 0.3 })
    expect(outcome).toEqual({ kind: 'answered', code: 200, body: expect.stringMatching(/^\.+$/) })
  })

  test('and a body that drips is given no more than its own time', async () => {
    const hasty = sender(strict, { bodySeconds: 0.2 })
    const url = await receiver(dripping)
    const startedAt = performance.now()
    const { outcome } = await hasty(requestTo(url), networkOf({ local: true }))
    expect(outcome).toEqual({ kind: 'answered', code: 200, body: expect.stringMatching(/^\.+$/) })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  const leaving: Record<string, (socket: Socket) => void> = {
    'an end': (socket) => socket.end(),
    'a reset': (socket) => socket.resetAndDestroy(),
  }

  test.each(Object.entries(leaving))('and as much as came before %s', async (_, leave) => {
    const url = await rawReceiver((socket) => {
      onceHeadersAreThere(() => leave(socket))
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthanks')
    })
    expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'thanks' })
  })

  test.each(Object.entries(leaving))(
    'and a whole answer stands, if %s follows',
    async (_, leave) => {
      const url = await rawReceiver((socket) => {
        onceHeadersAreThere(() => leave(socket))
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks')
      })
      expect(await send(url)).toEqual({ kind: 'answered', code: 200, body: 'thanks' })
    },
  )

  test('and of what follows a 204 nothing, nor is it the next answer', async () => {
    const smuggled = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
    const url = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n${smuggled}`)
    })
    const outcome = { kind: 'answered', code: 204, body: '' }
    for (let n = 0; n < 3; n += 1) expect(await send(url)).toEqual(outcome)
    expect(connectionsTo(url)).toHaveLength(3)
  })
})

describe('interim answers', () => {
  const final = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks'
  const answered = { kind: 'answered', code: 200, body: 'thanks' }

  test.each(['102 Processing', '103 Early Hints', '199 Odd'])('%s is passed over', async (line) => {
    const url = await rawReceiver((socket) => socket.write(`HTTP/1.1 ${line}\r\n\r\n${final}`))
    expect(await send(url)).toEqual(answered)
  })

  test.each(['100 Continue', '101 Switching Protocols'])(
    '%s, which nobody asked for, breaks the exchange: so undici has it',
    async (line) => {
      const url = await rawReceiver((socket) => socket.write(`HTTP/1.1 ${line}\r\n\r\n${final}`))
      expect(await send(url)).toEqual(unreached('broken'))
    },
  )

  test.each([
    [16, answered],
    [17, unreached('broken')],
  ])('%i of them', async (count, outcome) => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count)
    const url = await rawReceiver((socket) => socket.write(`${interim}${final}`))
    expect(await send(url)).toEqual(outcome)
  })

  test('a flood of them is cut', async () => {
    const { pour, written } = endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))
    const url = await rawReceiver(pour)
    expect(await send(url)).toEqual(unreached('broken'))
    expect(written()).toBeLessThan(16 * MIB)
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

  test('it takes the connection and reads nothing', async () => {
    const url = await listening(createNetServer({ pauseOnConnect: true }))
    const request = { timeoutSeconds: 0.2, body: 'x'.repeat(8 * MIB) }
    expect(await send(url, request)).toEqual(unreached('read_timeout'))
  })

  const late: RequestListener = (_, response) => {
    const answer = setTimeout(() => response.end('thanks'), 300)
    response.on('close', () => clearTimeout(answer))
  }

  test('it answers after the limit', async () => {
    const url = await receiver(late)
    expect(await send(url, { timeoutSeconds: 0.1 })).toEqual(unreached('read_timeout'))
  })

  test('it answers within it, though later than a connection may take', async () => {
    const url = await receiver(late)
    expect(await send(url, { connectionTimeoutSeconds: 0.1 })).toMatchObject({ code: 200 })
  })

  test('it drips its headers', async () => {
    const url = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
      const drip = setInterval(() => socket.write('.'), 20)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await send(url, { timeoutSeconds: 0.3 })).toEqual(unreached('read_timeout'))
  })

  test('nobody listens', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    expect(await post(requestTo(url), networkOf({ local: true }))).toEqual({
      outcome: unreached('refused'),
      address: null,
    })
  })

  test.each([
    ['connection timeout', { connectionTimeoutSeconds: 0.2 }],
    ['limit of the attempt', { timeoutSeconds: 0.2 }],
  ])(
    'nobody takes the connection, until the %s',
    async (_which, request) => {
      const hole = await blackHole()
      expect(await post(requestTo(hole.url, request), networkOf({ local: true }))).toEqual({
        outcome: unreached('connect_timeout'),
        address: null,
      })
      await hole.close()
    },
    2_000,
  )

  const hostile: Record<string, (socket: Socket) => void> = {
    'it resets the connection': (socket) => socket.resetAndDestroy(),
    'it closes the connection': (socket) => socket.end(),
    'it speaks no HTTP': (socket) => socket.end('HELLO\r\n\r\n'),
    'it speaks HTTP/2': (socket) => socket.end('HTTP/2 200\r\n\r\n'),
    'it has a status without digits': (socket) => socket.end('HTTP/1.1 OK\r\n\r\n'),
    'it has a status of two digits': (socket) => socket.end('HTTP/1.1 20 OK\r\n\r\n'),
    'it has a status of four digits': (socket) => socket.end('HTTP/1.1 2000 OK\r\n\r\n'),
    'it breaks off in its headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx-half: '),
    'it has two lengths': (socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    'it floods with headers': (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}\r\n`),
    'it has a header without end': endless('HTTP/1.1 200 OK\r\na: ', letters).pour,
    'it has headers without end': endless('HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(1_000)).pour,
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

describe('connections', () => {
  test('end with a receiver that wants no more', async () => {
    const url = await receiver((_, response) => response.setHeader('connection', 'close').end())
    for (let n = 0; n < 3; n += 1) expect(await send(url)).toMatchObject({ code: 200 })
    expect(connectionsTo(url)).toHaveLength(3)
  })

  test('of 65 receivers, that of the first is not kept', async () => {
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
