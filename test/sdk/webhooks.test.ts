import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import express from 'express'
import { Webhook } from 'standardwebhooks'
import { expect, expectTypeOf, test, vi } from 'vitest'
import {
  type Event,
  type EventHandlers,
  type EventStore,
  SignatureError,
  testing,
  type WebhookEvent,
  webhooks,
} from '../../sdk/typescript/src/index.ts'
import { type Signing, signatureHeaders } from '../../shared/webhooks/http/signature.ts'
import { whileListening } from '../support/servers.ts'

type Case = {
  name: string
  only?: string[]
  set?: Record<string, string>
  secrets?: string | string[]
  signed_at?: number
  require_standard?: boolean
  body?: string
}
type Delivery = {
  name: string
  steps: {
    event: { event: string }
    status: number
    secret?: string
    throws?: string
    filler?: number
  }[]
  handled: [string, string][]
}

/** The cases of both clients. */
const cases: {
  secret: string
  event: { event: string; data: { transaction: object } }
  genuine: Case[]
  forged: Case[]
  malformed: string[]
  secrets_without_a_key: (string | string[])[]
  deliveries: Delivery[]
} = JSON.parse(readFileSync('sdk/cases/webhooks.json', 'utf8'))

const DEEP = 100_000

const { secret: SECRET, event: EVENT } = cases

const warn = vi.spyOn(console, 'warn').mockReturnValue()

const hex = (secret: string, body: string) =>
  createHmac('sha256', secret).update(body).digest('hex')

/** Returns body, headers and secrets of a case. */
const delivered = async ({
  only,
  set = {},
  secrets = SECRET,
  signed_at = 0,
  require_standard: requireStandard,
  ...rest
}: Case) => {
  const now = Math.floor(Date.now() / 1000)
  vi.useFakeTimers({ now: (now + signed_at) * 1000, toFake: ['Date'] })
  const { body, headers } = await testing.signed(EVENT, SECRET)
  vi.useRealTimers()
  const values: Record<string, string | undefined> = {
    ...headers,
    base64: headers['webhook-signature']?.slice(3),
    next: String(now + 1),
    old: String(now - 301),
    body,
  }
  const filled = (text: string) => text.replaceAll(/\{([\w-]+)\}/g, (_, name) => values[name] ?? '')
  const sent = Object.entries(headers).filter(([name]) => only?.includes(name) ?? true)
  for (const [name, text] of Object.entries(set)) sent.push([name, filled(text)])
  const options = { requireStandard }
  return [filled(rest.body ?? '{body}'), Object.fromEntries(sent), secrets, options] as const
}

test('`verify` accepts an event of testing.signed, as bytes or text, with any kind of headers', async () => {
  const { body, headers } = await testing.signed(EVENT, SECRET)
  const upperCase = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])
  for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body).buffer]) {
    for (const source of [headers, new Headers(headers), Object.fromEntries(upperCase)]) {
      expect(await webhooks.verify(raw, source, SECRET)).toEqual(EVENT)
    }
  }
  expect(new Webhook(SECRET).verify(body, headers)).toEqual(EVENT)
  expect(headers['x-svc-signature']).toBe(hex(SECRET, body))
  const [at, now] = [new Date(), new Date()]
  const ofService = signatureHeaders(
    { secret: SECRET as Signing['secret'] },
    { event: EVENT.event, eventId: 'evt_1', attemptId: 'dlv_1_1', body, at, now },
  )
  const { 'content-type': _, ...signed } = headers
  expect(Object.keys(signed).sort()).toEqual(Object.keys(ofService).sort())
})

test('`verify` accepts a partial event, which testing.signed completes', async () => {
  const partial = { event: 'transaction.completed', data: { transaction: { reference: 'r' } } }
  const { body, headers } = await testing.signed(partial, SECRET)
  const event = await webhooks.verify(body, headers, SECRET)
  expect(event).toMatchObject({ ...partial, event_id: expect.stringMatching(/^evt_\d+$/) })
  expect(headers['webhook-id']).toBe(event.event_id)
})

for (const genuine of cases.genuine) {
  test(genuine.name, async () => {
    expect(await webhooks.verify(...(await delivered(genuine)))).toEqual(EVENT)
  })
}

for (const forged of cases.forged) {
  test(forged.name, async () => {
    const verified = webhooks.verify(...(await delivered(forged)))
    await expect(verified).rejects.toMatchObject({
      name: 'SignatureError',
      message: expect.stringContaining('signature'),
    })
  })
}

test.each([
  [{ signed_at: -360 }, /is 36[0-9] seconds old/],
  [{ only: ['webhook-id', 'webhook-signature'] }, 'has no time'],
  [{ only: ['webhook-timestamp', 'webhook-signature'] }, 'has no webhook-id'],
  [{ only: [] }, 'has no signature'],
])('the error of the webhook %o states that it %s', async (part, reason) => {
  const verified = webhooks.verify(...(await delivered({ name: '', ...part })))
  await expect(verified).rejects.toThrow(reason)
})

test('`verify` rejects a signed body that is not an event, and a receiver answers 401', async () => {
  const receive = webhooks.fetch(options())
  for (const body of [...cases.malformed, '['.repeat(DEEP)]) {
    const headers = { 'x-svc-signature': hex(SECRET, body) }
    await expect(webhooks.verify(body, headers, SECRET)).rejects.toThrow('not an event')
    const request = new Request('http://localhost/', { method: 'POST', headers, body })
    expect((await receive(request)).status).toBe(401)
  }
})

test('`verify` and receivers throw a TypeError for a missing secret', async () => {
  const published = (secret: string) => ({ 'x-svc-signature': hex(secret, '{}') })
  for (const secrets of [...cases.secrets_without_a_key, undefined as never]) {
    const forged = published([secrets].flat()[0] ?? '')
    await expect(webhooks.verify('{}', forged, secrets)).rejects.toThrow(TypeError)
    expect(() => webhooks.express({ ...options(), secrets })).toThrow(TypeError)
  }
})

test('a receiver refuses a handler of an event that does not exist', () => {
  const on = { 'transaction.complete': handle, 'debit_request.failed': handle }
  expect(() => webhooks.fetch({ ...options(), on: on as never })).toThrow(
    'unknown events: transaction.complete, debit_request.failed',
  )
})

test('`verify` throws a TypeError for a parsed body', async () => {
  const { headers } = await testing.signed(EVENT, SECRET)
  await expect(webhooks.verify(EVENT as never, headers, SECRET)).rejects.toThrow(TypeError)
})

test('`verify` returns an event whose data follows from its type', () => {
  const statusOf = (event: WebhookEvent): string => {
    if (event.event === 'settlement.completed') return event.data.settlement.id
    if (event.event === 'ping') return event.event_id
    return event.data.transaction.status
  }
  expect(statusOf(EVENT as never)).toBe('completed')
  expectTypeOf<EventHandlers<void>>().toHaveProperty('transaction.failed')
})

/** Returns the reference of the debit, or the id of the batch. */
const subjectOf = ({ data }: WebhookEvent): unknown => {
  const { settlement, transaction, ...reduced } = data as Record<
    string,
    { id?: string; reference?: string }
  >
  return settlement?.id ?? transaction?.reference ?? reduced.reference
}

let failure: string | undefined
const applied: { event: WebhookEvent; transaction: unknown }[] = []
const errors: unknown[] = []
const handle = (event: WebhookEvent, transaction: unknown) => {
  if (failure) throw new Error(failure)
  applied.push({ event, transaction })
}
const options = (store: EventStore = webhooks.memoryStore()) => {
  applied.length = 0
  errors.length = 0
  failure = undefined
  return {
    secrets: SECRET,
    store,
    on: {
      'transaction.completed': handle,
      'transaction.failed': handle,
      'settlement.completed': handle,
    },
    onError: (error: unknown) => errors.push(error),
  }
}

const requestOf = async (event: { event: string }, secret = SECRET) => {
  const { body, headers } = await testing.signed(event, secret)
  return { method: 'POST', body, headers }
}

const receives =
  (receive: (request: Request) => Promise<Response>) =>
  async (event: { event: string }, secret = SECRET) =>
    (await receive(new Request('http://localhost/', await requestOf(event, secret)))).status

for (const { name, steps, handled } of cases.deliveries) {
  test(name, async () => {
    const receive = receives(webhooks.fetch(options()))
    warn.mockClear()
    for (const { event, status, secret, throws, filler = 0 } of steps) {
      failure = throws
      const sent = { ...event, filler: 'x'.repeat(filler) }
      expect(await receive(sent, secret)).toBe(status)
    }
    const thrown = steps.flatMap(({ throws }) => throws ?? [])
    expect(errors).toEqual(thrown.map((message) => new Error(message)))
    const refused = steps.filter(({ status }) => status === 401)
    const line = 'Refused a webhook: The signature of the webhook is wrong'
    expect(warn.mock.calls).toEqual(refused.map(() => [line]))
    expect(applied.map(({ event }) => [event.event, subjectOf(event)])).toEqual(handled)
  })
}

test('a receiver answers 500 when a handler throws the error of a forged event', async () => {
  const on = {
    'transaction.completed': () => {
      throw new SignatureError('another event is forged')
    },
  }
  expect(await receives(webhooks.fetch({ ...options(), on }))(EVENT)).toBe(500)
  expect(errors).toEqual([expect.any(SignatureError)])
})

const throws = () => {
  throw new Error('no database')
}

test.each([
  ['throws', throws],
  ['rejects', async () => throws()],
])('a receiver whose onError %s answers 500', async (_, onError) => {
  const on = { 'transaction.completed': throws }
  expect(await receives(webhooks.fetch({ ...options(), on, onError }))(EVENT)).toBe(500)
})

test('a receiver applies two simultaneous attempts once', async () => {
  const receive = receives(webhooks.fetch(options()))
  expect(await Promise.all([receive(EVENT), receive(EVENT)])).toEqual([204, 204])
  expect(applied).toEqual([{ event: EVENT, transaction: undefined }])
})

test('an event of the feed is applied unless its webhook or a later one was', async () => {
  const { secrets, ...handling } = options()
  await receives(webhooks.fetch({ secrets, ...handling }))(EVENT)
  const feed = [EVENT, { ...EVENT, sequence: 99, event: 'debit_request.failed' }, EVENT]
  for (const event of feed) await webhooks.apply(event as Event, handling)
  expect(applied.map(({ event }) => event)).toEqual([EVENT, feed[1]])
  failure = 'no database'
  const last = webhooks.apply({ ...EVENT, sequence: 100 } as never, handling)
  await expect(last).rejects.toThrow('no database')
  const on = { 'transaction.complete': handle } as never
  await expect(webhooks.apply(EVENT as never, { ...handling, on })).rejects.toThrow(
    'unknown events',
  )
})

test('a receiver passes the transaction of the store to the handler', async () => {
  const transaction = { insert: 'into orders' }
  const store: EventStore<typeof transaction> = {
    apply: async (_key, work) => {
      await work(transaction)
    },
  }
  await receives(webhooks.fetch(options(store as never)))(EVENT)
  expect(applied).toEqual([{ event: EVENT, transaction }])
})

test('a receiver answers 401 to a request without a signature', async () => {
  const reply = await webhooks.fetch(options())(new Request('http://localhost/'))
  expect(reply.status).toBe(401)
})

test('a receiver works in Express, with and without express.raw, and rejects a parsed body', async () => {
  const app = express()
  app.post('/webhooks', webhooks.express(options()))
  app.post('/raw', express.raw({ type: '*/*' }), webhooks.express(options()))
  app.post('/parsed', express.json(), webhooks.express(options()))
  const discard: express.Handler = (request, _, next) => request.resume().on('end', next)
  app.post('/discarded', discard, webhooks.express(options()))
  await whileListening(createServer(app), async (port) => {
    const post = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, await requestOf(EVENT))).status
    expect(await post('/webhooks')).toBe(204)
    expect(await post('/raw')).toBe(204)
    expect(applied.map(({ event }) => event)).toEqual([EVENT, EVENT])
    expect(await post('/parsed')).toBe(500)
    expect(await post('/discarded')).toBe(500)
    const refusal = expect.objectContaining({ message: expect.stringContaining('parsed') })
    expect(errors).toEqual([refusal, refusal])
  })
})
