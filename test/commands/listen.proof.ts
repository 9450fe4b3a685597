import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { eventId } from '../../shared/domain/webhooks/event.ts'
import { pingBody, webhookBody } from '../../shared/views/webhook-payload.ts'
import {
  type Signing,
  signatureHeaders,
  webhookSecret,
} from '../../shared/webhooks/http/signature.ts'
import { completed, reference } from '../domain/debits/one-debit.ts'
import { printedBy, runScript, type StartedScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { whileListening } from '../support/servers.ts'

const SECRET = webhookSecret(new Uint8Array(32).fill(1))
const OTHER_SECRET = webhookSecret(new Uint8Array(32).fill(2))

const start = useCommands()
const startListen = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  start(['commands/listen.ts', ...args], { PATH: process.env.PATH, ...env })

const urlOf = (listener: StartedScript): Promise<string> =>
  printedBy(listener, /^listening (http:\/\/127\.0\.0\.1:[0-9]+)$/m)

const startListener = async (args: string[] = [], env?: NodeJS.ProcessEnv) => {
  const listener = startListen(['--port', '0', ...args], env)
  const url = await urlOf(listener)
  return {
    ...listener,
    url,
    /** Sends a request; returns the status and the printed text. */
    post: async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
      const { length } = listener.printed.out
      const { status, headers: answered } = await fetch(url, { method: 'POST', body, headers })
      await eventually(() => expect(listener.printed.out.length).toBeGreaterThan(length))
      return {
        status,
        retryAfter: answered.get('retry-after'),
        printed: listener.printed.out.slice(length).trimEnd(),
      }
    },
  }
}

type WebhookOptions = { n: number; at?: Date; signing?: Signing }

const webhook = ({ n, at = new Date(), signing = { secret: SECRET } }: WebhookOptions) => {
  const body = webhookBody(completed, n)
  const headers = signatureHeaders(signing, {
    body,
    event: JSON.parse(body).event,
    eventId: eventId({ reference, n }),
    attemptId: `dlv_1988055307469800_${randomBytes(8).toString('hex')}`,
    at,
    now: at,
  })
  return [body, headers] as const
}

/** Returns the parts of a printed line after the time. */
const parts = (printed: string): string[] => {
  const [time, ...rest] = printed.split('  ')
  expect(time).toMatch(/^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}$/)
  return rest
}

const COMPLETED = ['DCS-20250102-00000A', 'completed', '100.00 GHS', 'sequence 3']

test('the listener prints an event in one line and answers 204', async () => {
  const { post } = await startListener(['--secret', SECRET])
  const { status, printed } = await post(...webhook({ n: 3 }))
  expect(status).toBe(204)
  const facts = ['transaction.completed', ...COMPLETED]
  expect(parts(printed)).toEqual([...facts, 'attempt 1', 'verified', 'answered 204'])
})

test('the listener marks duplicates and events out of order', async () => {
  const { post } = await startListener(['--secret', SECRET])
  const late = 'out of order: sequence 2 arrived first'
  const notes = [
    [0, 'attempt 1', 'verified'],
    [2, 'attempt 1', 'verified'],
    [1, 'attempt 1', 'verified', late],
    [1, 'attempt 2', 'verified', 'duplicate'],
  ] as const
  for (const [n, ...expected] of notes) {
    expect(parts((await post(...webhook({ n }))).printed).slice(5, -1)).toEqual(expected)
  }
})

test('a listener without a secret prints variants of events and pings, and answers 405 to GET', async () => {
  const { post, url } = await startListener(['--events', 'completed'])
  const variant = { payload: 'reduced', eventNames: 'debit_request' } as const
  const { status, printed } = await post(webhookBody(completed, 3, variant))
  expect(status).toBe(204)
  expect(parts(printed).slice(0, 5)).toEqual(['debit_request.completed', ...COMPLETED])
  expect(printed).toContain('not verified: no --secret')
  const ping = pingBody({ eventId: 'evt_9', at: new Date() })
  expect(parts((await post(ping)).printed)[0]).toBe('ping')
  expect((await fetch(url)).status).toBe(405)
})

test('a listener with a secret answers 204 to valid signatures and 401 to all others', async () => {
  const until = new Date(Date.now() + 60_000)
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const rotating = { secret: OTHER_SECRET, previous: { secret: SECRET, until } }
  const [body, headers] = webhook({ n: 3 })
  const { post } = await startListener(['--secret', SECRET])
  const valid: [string, Partial<WebhookOptions>][] = [
    ['its own signature', {}],
    ['the new secret of a rotation', { signing: { ...rotating, secret: SECRET } }],
    ['the old secret of a rotation', { signing: rotating }],
    ['a signature prefix', { signing: { secret: SECRET, signaturePrefix: 'sha256' } }],
    ['a timestamp four minutes ago', { at: minutesAgo(4) }],
    ['a timestamp four minutes ahead', { at: minutesAgo(-4) }],
  ]
  const WRONG = 'X-SVC-Signature is wrong'
  const STANDARD_WRONG = 'webhook-signature is wrong'
  const LATE = 'not signed within the last five'
  const accent = { ...headers, 'x-svc-signature': 'é'.repeat(64) }
  const forged: [string, string, string, Record<string, string>][] = [
    ['a missing signature', WRONG, body, {}],
    ['another body', WRONG, body.replace('100.00', '900.00'), headers],
    ['another secret', WRONG, ...webhook({ n: 3, signing: { secret: OTHER_SECRET } })],
    ['a signature outside ASCII', WRONG, body, accent],
    ['another id', STANDARD_WRONG, body, { ...headers, 'webhook-id': 'evt_1' }],
    ['another time', STANDARD_WRONG, body, { ...headers, 'webhook-timestamp': '1735812000' }],
    ['a timestamp six minutes ago', LATE, ...webhook({ n: 3, at: minutesAgo(6) })],
  ]
  for (const [name, reason, sentBody, sentHeaders] of forged) {
    const { status, printed } = await post(sentBody, sentHeaders)
    expect(status, name).toBe(401)
    expect(printed, name).toContain(`NOT VERIFIED: ${reason}`)
  }
  // A rejected request does not count as an attempt.
  for (const [index, [name, options]] of valid.entries()) {
    const { status, printed } = await post(...webhook({ n: 3, ...options }))
    expect([status, printed.includes('duplicate')], name).toEqual([204, index > 0])
  }
})

test.each([
  ['--fail 500', [500, 204, 204]],
  ['--fail 429 --times 2', [429, 429, 204]],
])('the option %s answers with %j', async (args, expected) => {
  const { post } = await startListener(args.split(' '))
  const statuses: number[] = []
  for (const _ of expected) statuses.push((await post(...webhook({ n: 0 }))).status)
  expect(statuses).toEqual(expected)
})

test('the listener prints one line per malformed body and continues', async () => {
  const { post, child, url } = await startListener()
  const garbage = [
    ...['', '{', '[1]', '{"event":{}}', '{"event":"x","data":null,"sequence":"1"}'],
    '{"event":"\\u001b[2J\\nforged line","event_id":{},"data":{"transaction":[],"amount":"x"}}',
  ]
  for (const body of [...garbage, Uint8Array.of(0xff, 0x00, 0xfe)]) {
    const { status, printed } = await post(body)
    expect(status).toBe(204)
    expect(printed.split('\n')).toHaveLength(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal must not receive these
    expect(printed).not.toMatch(/[\u0000-\u001f]/)
  }
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_100_000) })).status).toBe(413)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf', () =>
    socket.destroy(),
  )
  await once(socket, 'close')
  expect((await post(...webhook({ n: 3 }))).printed).toContain('transaction.completed')
  expect(child.exitCode).toBeNull()
})

test('a listener whose registration waits for an approval ends, and restores the setting', async () => {
  const sandbox = start(['commands/sandbox.ts', '--port', '0', '--approvals'])
  const port = new URL(await printedBy(sandbox, /^ready (http:\S+)$/m)).port
  const operator = async (...words: string[]) =>
    JSON.parse(
      (await runScript(['commands/operator.ts', 'webhook', ...words, '--port', port])).stdout,
    )
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const own = (free.address() as AddressInfo).port
  await new Promise((resolve) => free.close(resolve))
  // The URL needs one only if it changes, and the secret always.
  for (const [provider, path] of [
    ['demo', 'webhooks'],
    ['other', 'elsewhere'],
  ] as const) {
    const url = `http://127.0.0.1:${own}/${path}`
    await operator('set', '--provider', provider, '--url', url)
    const words = ['--register', provider, '--sandbox', port, '--events', 'completed']
    const { exited, printed } = startListen(['--port', String(own), ...words])
    expect(await exited).toBe(1)
    expect(printed.err).toContain('the webhook waits for the approval')
    expect(await operator('show', '--provider', provider)).toMatchObject({ url, events: null })
  }
})

test('the listener registers itself with a new secret, and restores the setting at its end', async () => {
  const sandbox = start(['commands/sandbox.ts', '--port', '0'])
  const port = new URL(await printedBy(sandbox, /^ready (http:\S+)$/m)).port
  const operator = async (...words: string[]) =>
    runScript(['commands/operator.ts', ...words, '--provider', 'demo', '--port', port])
  const url = 'http://localhost:4242/webhooks'
  const { secret } = JSON.parse((await operator('webhook', 'set', '--url', url)).stdout)
  const words = ['--register', 'demo', '--sandbox', port, '--events', 'completed,failed']
  const { child, exited, printed, url: own } = await startListener(words)
  expect(printed.out).toMatch(/registered demo {2}secret whsec_/)
  expect(printed.out).not.toContain(secret)
  const shown = async () => JSON.parse((await operator('webhook', 'show')).stdout)
  const events = ['transaction.completed', 'transaction.failed']
  expect(await shown()).toMatchObject({ url: `${own}/webhooks`, events })
  const { stdout } = await operator('webhook', 'ping')
  expect(JSON.parse(stdout)).toMatchObject({ delivered: true })
  await eventually(() => expect(printed.out).toMatch(/ping .*verified/))
  child.kill('SIGINT')
  expect(await exited).toBe(0)
  expect(await shown()).toMatchObject({ url, events: null })
  const [, replacement = ''] = /secret (whsec_\S+)/.exec(printed.out) ?? []
  expect(printed.out).toContain(`restored demo  its webhook keeps the new secret ${replacement}\n`)
  // Ctrl-C: npm passes the signal on that the command has also got.
  const npm = start(['run', '-s', 'listen', '--', '--port', '0', ...words], process.env, 'npm')
  const directed = `${await urlOf(npm)}/webhooks`
  expect(await shown()).toMatchObject({ url: directed, events })
  process.kill(-Number(npm.child.pid), 'SIGINT')
  expect(await npm.exited).toBe(0)
  expect(await shown()).toMatchObject({ url, events: null })
  // Without an earlier webhook, no secret is replaced.
  await operator('webhook', 'remove')
  const first = await startListener(words)
  first.child.kill('SIGINT')
  expect(await first.exited).toBe(0)
  expect(first.printed.out).not.toContain('restored')
}, 60_000)

test('a listener forwards an event with its headers and bytes, and answers as the receiver does', async () => {
  const received: { body: string; signature: unknown }[] = []
  const receiver = createServer(async (request, response) => {
    const signature = request.headers['x-svc-signature']
    received.push({ body: await text(request), signature })
    if (received.length === 1) response.writeHead(503, { 'retry-after': '7' }).end()
    // A body without an end.
    else response.writeHead(200).write('order-1 is paid')
  })
  await whileListening(receiver, async (port) => {
    const forwardTo = ['--forward-to', `http://127.0.0.1:${port}/events`]
    const { post } = await startListener(['--secret', SECRET, ...forwardTo])
    const [body, headers] = webhook({ n: 3 })
    const first = await post(body, headers)
    expect(first).toMatchObject({ status: 503, retryAfter: '7' })
    const second = await post(body, headers)
    expect(second).toMatchObject({ status: 200, retryAfter: null })
    expect(second.printed).toContain('order-1 is paid')
    expect(received[0]).toEqual({ body, signature: headers['x-svc-signature'] })
  })
})

test('a listener forwards no unverified event, and answers 502 for a receiver that is down', async () => {
  const { post } = await startListener(['--secret', SECRET, '--forward-to', 'http://127.0.0.1:1'])
  const forged = await post(webhook({ n: 3 })[0])
  expect(forged).toMatchObject({ status: 401, printed: expect.not.stringContaining('->') })
  expect((await post(...webhook({ n: 3 }))).printed).toContain('-> 502')
})

test('a listener prints bodies with --print, and one JSON object for each event with --json', async () => {
  const printing = await startListener(['--print'])
  await printing.post(...webhook({ n: 3 }))
  await eventually(() => expect(printing.printed.out).toContain('"partner_reference": '))
  const child = startListen(['--port', '0', '--json', '--events', 'completed', '--secret', SECRET])
  await eventually(() => expect(child.printed.err).toContain('listening'))
  const [address = ''] = /http:\S+/.exec(child.printed.err) ?? []
  const send = ([body, headers]: ReturnType<typeof webhook>) =>
    fetch(address, { method: 'POST', body, headers })
  await send(webhook({ n: 2 }))
  await send(webhook({ n: 3 }))
  await eventually(() => expect(child.printed.out).not.toBe(''))
  const lines = child.printed.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { verified: true, attempt: 1, status: 204, payload: { event: 'transaction.completed' } },
  ])
})

test.each(['SIGINT', 'SIGTERM'] as const)('the command exits with 0 on %s', async (signal) => {
  const { child, exited, url } = await startListener()
  const openConnection = connect(Number(new URL(url).port), '127.0.0.1')
  await once(openConnection, 'connect')
  openConnection.on('error', () => openConnection.destroy())
  child.kill(signal)
  expect(await exited).toBe(0)
})
