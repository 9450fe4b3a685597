import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from '../../sandbox/local-server.ts'
import manifest from '../../sdk/typescript/package.json' with { type: 'json' }
import {
  type Amount,
  type ChargeOptions,
  DebitCollection,
  type LogEntry,
} from '../../sdk/typescript/src/index.ts'
import { pause } from '../../sdk/typescript/src/pause.ts'
import type { ChargeFields } from '../../sdk/typescript/src/wire.ts'
import { ChargeRequest } from '../../shared/domain/debits/charge.ts'
import { camelCased } from '../support/camel-case.ts'
import { expectCall, type SdkCall } from '../support/sdk-call.ts'
import { type ReceivedRequest, received, useServer } from '../support/servers.ts'

/** The client against a server that fails in scripted ways: the cases of both clients, and its own. */

vi.mock('../../sdk/typescript/src/pause.ts', { spy: true })
afterAll(() => vi.doUnmock('../../sdk/typescript/src/pause.ts'))

type ScriptedReply =
  | 'charged'
  | { fault: 'close' | 'hang' }
  | { debit: object }
  | {
      status: number
      code?: number
      details?: unknown
      body?: unknown
      headers?: Record<string, string>
    }

type ChargeCase = {
  name: string
  replies: ScriptedReply[]
  retries?: number
  /** Seconds. */
  deadline?: number
  requests?: number
  /** From 0 to 1, the longest. */
  random?: number
  /** Seconds. */
  pauses?: number[]
  result?: object
  error?: { class: string; message?: string }
}

const cases: {
  order: Record<string, unknown>
  charged: { data: { response: object }; meta: { timestamp: string } }
  debit: { reference: string }
  charges: ChargeCase[]
  calls: (SdkCall & { name: string; replies: ScriptedReply[]; paths: string[] })[]
  other_debits: Record<keyof ChargeFields, object>
  amounts: [Amount, string][]
  refused_amounts: unknown[]
  refused_options: object[]
  refused_ids: string[]
} = JSON.parse(readFileSync('sdk/cases/client.json', 'utf8'))

const sent: ReceivedRequest[] = []
let script: ((response: ServerResponse) => void)[] = []

const address = useServer(
  createServer(async (request, response) => {
    sent.push(await received(request))
    const next = script.length > 1 ? script.shift() : script[0]
    next?.(response)
  }),
)

beforeEach(() => {
  sent.length = 0
})

afterEach(() => {
  vi.mocked(pause).mockReset()
  vi.restoreAllMocks()
})

const { meta } = cases.charged
const { reference: REFERENCE } = cases.debit

const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const breaks = (response: ServerResponse) => response.destroy()
const hangs = () => undefined

const refuse = (status: number, code: number, more: Record<string, unknown> = {}, headers = {}) => {
  const error = { code, message: 'Refused', category: 'general', severity: 'low' }
  const id = { 'x-request-id': 'id-1' }
  return respond(status, { success: false, error, meta, ...more }, { ...id, ...headers })
}

const accepts = respond(202, cases.charged)

const isSilence = (reply: ScriptedReply) =>
  typeof reply === 'object' && 'fault' in reply && reply.fault === 'hang'

const played = (reply: ScriptedReply) => {
  if (reply === 'charged') return accepts
  if ('fault' in reply) return reply.fault === 'close' ? breaks : hangs
  if ('debit' in reply)
    return respond(200, { success: true, data: { ...cases.debit, ...reply.debit }, meta })
  const { status, code, details, body = '', headers } = reply
  return code ? refuse(status, code, { details }, headers) : respond(status, body, headers)
}

/** Passes the time of each pause without a wait. */
const passPauses = () => {
  const now = performance.now.bind(performance)
  let passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
  vi.mocked(pause).mockImplementation(async (milliseconds) => {
    passed += milliseconds
  })
}

const ORDER = camelCased(cases.order) as ChargeOptions

const SECRETS = { apiKey: 'sk_sandbox_secret', signingSecret: 'rs_secret' }

const client = (options = {}) => new DebitCollection({ ...SECRETS, baseUrl: address(), ...options })

for (const { name, replies, retries = 3, random = 1, error, ...expected } of cases.charges) {
  const limits = {
    maxRetries: retries,
    ...(replies.some(isSilence) && { timeout: 1_000.5 }),
    ...(expected.deadline && { deadline: expected.deadline * 1_000 }),
  }
  test(name, async () => {
    script = replies.map(played)
    passPauses()
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const charged = client(limits).charge(ORDER)
    if (error) {
      const { class: name, message = '', ...members } = error
      const caught = await charged.catch((thrown) => thrown)
      expect(caught).toMatchObject({ name, message: expect.stringContaining(message) })
      for (const [member, value] of Object.entries(camelCased(members)))
        expect(caught[member], member).toEqual(value ?? undefined)
    } else {
      const accepted = { ...cases.charged.data.response, replayed: false }
      expect(await charged).toEqual(expected.result ?? accepted)
    }
    const pauses = vi.mocked(pause).mock.calls.map(([milliseconds]) => milliseconds / 1_000)
    expect(pauses).toEqual(expected.pauses ?? [])
    expect(sent).toHaveLength(expected.requests ?? replies.length)
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ ...cases.order, currency: 'GHS' })
    for (const { method, path, headers, body } of sent) {
      if (method === 'POST') expect(body).toBe(sent[0]?.body)
      const message = `${method}${path}${headers['x-timestamp']}${body}`
      const signature = createHmac('sha256', 'rs_secret').update(message).digest('hex')
      expect(headers['x-signature']).toBe(signature)
      expect(headers['user-agent']).toBe(`debit-collection-typescript/${manifest.version}`)
    }
  })
}

for (const { name, replies, paths, ...call } of cases.calls) {
  test(name, async () => {
    script = replies.map(played)
    await expectCall(client(), call)
    expect(sent.map(({ path }) => path)).toEqual(paths)
    for (const { path, headers } of sent) {
      const isApi = path.startsWith('/api/')
      expect('authorization' in headers && 'x-signature' in headers).toBe(isApi)
    }
  })
}

test('the cases of other debits have each field of a charge', () => {
  expect(Object.keys(cases.other_debits).sort()).toEqual(Object.keys(ChargeRequest.entries).sort())
})

test.each(Object.entries(cases.other_debits))(
  'a charge is refused after a lost reply when the existing debit has another %s',
  async (_, members) => {
    const debit = { ...cases.debit, ...members }
    const existing = { reference: REFERENCE, uuid: 'u-1', status: 'processing' }
    const found = respond(200, { success: true, data: debit, meta })
    script = [breaks, refuse(409, 3003, { details: existing }), found]
    vi.mocked(pause).mockResolvedValue()
    const expected = { name: 'DuplicateReferenceError', attempts: 2, existing }
    await expect(client().charge(ORDER)).rejects.toMatchObject(expected)
  },
)

test('a charge is retried with the same body when the caller changes its metadata', async () => {
  script = [refuse(503, 1503), accepts]
  vi.mocked(pause).mockResolvedValue()
  const metadata = { cart: 77 }
  const log = () => {
    metadata.cart += 1
  }
  await client({ log }).charge({ ...ORDER, metadata })
  expect(sent.map(({ body }) => JSON.parse(body).metadata)).toEqual([{ cart: 77 }, { cart: 77 }])
})

test('a charge ends when its signal aborts, also between attempts', async () => {
  script = [refuse(503, 1503, {}, { 'retry-after': '30' })]
  const abort = new AbortController()
  const log = () => abort.abort(new Error('the customer left'))
  const charged = client({ log }).charge(ORDER, { signal: abort.signal })
  await expect(charged).rejects.toThrow('the customer left')
  expect(sent).toHaveLength(1)
})

test('an aborted attempt has an entry in the log', async () => {
  const abort = new AbortController()
  script = [() => abort.abort(new Error('the customer left'))]
  const entries: LogEntry[] = []
  const charged = client({ log: (entry: LogEntry) => entries.push(entry) }).charge(ORDER, {
    signal: abort.signal,
  })
  await expect(charged).rejects.toThrow('the customer left')
  expect(entries).toMatchObject([{ attempt: 1, status: undefined, error: 'AbortError' }])
})

test.each([...cases.amounts, [{ pesewas: 7n }, '0.07'] as const])(
  'the amount %o is sent as %s',
  async (amount, text) => {
    script = [accepts]
    await client().charge({ ...ORDER, amount })
    expect(JSON.parse(sent[0]?.body ?? '').amount).toBe(text)
  },
)

const unusable = ['100', '100.5', '1e2', { pesewas: 1.5 }, { pesewas: -5n }, undefined]
test.each([...cases.refused_amounts, ...unusable])(
  'the amount %o is refused before anything is sent',
  async (amount) => {
    const charged = client().charge({ ...ORDER, amount } as never)
    await expect(charged).rejects.toThrow(TypeError)
    expect(sent).toHaveLength(0)
  },
)

const toBucket = respond(303, { success: true, data: {}, meta }, { location: '/bucket/report' })

test('a report is downloaded over the same connection each time', async () => {
  const ports = new Set<number | undefined>()
  const toBucket = respond(303, 'x'.repeat(300_000), { location: '/bucket/report' })
  const file = respond(200, 'reference\n', { 'content-type': 'text/csv' })
  for (let count = 0; count < 10; count += 1) {
    script = [toBucket, file].map((reply) => (response) => {
      ports.add(response.socket?.remotePort)
      reply(response)
    })
    await client().settlements.report('STL-20261122-ABC123', { format: 'csv' })
  }
  expect(ports.size).toBeLessThan(5)
})

test('a report is requested again when the bucket fails', async () => {
  const report = { batch: {}, lines: [], totals: {} }
  script = [toBucket, respond(503, 'slow down'), toBucket, respond(200, report)]
  vi.mocked(pause).mockResolvedValue()
  expect(await client().settlements.report('STL-20261122-ABC123')).toEqual(report)
})

test('the logs have an entry for each attempt, without secrets and personal data', async () => {
  const entries: LogEntry[] = []
  const log = (entry: LogEntry) => entries.push(entry)
  script = [refuse(503, 1503), accepts]
  vi.mocked(pause).mockResolvedValue()
  await client({ log }).charge(ORDER)
  expect(entries).toEqual([
    {
      operation: 'charge',
      method: 'POST',
      path: '/api/v1/payment-providers/debit-requests/charge',
      attempt: 1,
      duration: expect.any(Number),
      status: 503,
      requestId: 'id-1',
      error: 'ServerError',
    },
    expect.objectContaining({ attempt: 2, status: 202, error: undefined }),
  ])
  script = [refuse(404, 1404)]
  await client({ log })
    .banks.lookup('+233241234567')
    .catch(() => undefined)
  expect(entries.at(-1)?.path).toBe('/api/v1/payment-providers/banks/lookup/{phone_number}')
  expect(JSON.stringify(entries)).not.toMatch(/secret|23324|Order|order-1/)
})

const throws = () => {
  throw new Error('disk full')
}

test.each([
  ['throws', throws],
  ['rejects', async () => throws()],
])('a log that %s does not fail the charge', async (_, log) => {
  script = [accepts]
  expect(await client({ log }).charge(ORDER)).toMatchObject({ reference: REFERENCE })
})

test('a log may be a method that uses its options', async () => {
  script = [accepts]
  const options = {
    paths: [] as string[],
    log({ path }: { path: string }) {
      this.paths.push(path)
    },
  }
  await client(options).charge(ORDER)
  expect(options.paths).toHaveLength(1)
})

test('an inspected client and its errors show neither secrets nor personal data', async () => {
  script = [refuse(422, 1007, { details: { phone_number: ['is invalid'] } })]
  const debits = client()
  const error = await debits.charge(ORDER).catch((caught) => caught)
  const shown = inspect(debits, { depth: 9, showHidden: true }) + inspect(error, { depth: 9 })
  expect(shown).not.toMatch(/_secret|23324|Order 1/)
})

const reads = respond(200, { success: true, data: { status: 'completed' }, meta })

test('a wait is not delayed by waits that ended before their turn', async () => {
  script = [reads]
  const debits = client()
  const abort = new AbortController()
  const ended = Array.from({ length: 100 }, () =>
    debits.waitFor(REFERENCE, { signal: abort.signal }).catch(({ name }) => name),
  )
  abort.abort()
  expect(await debits.waitFor(REFERENCE, { timeout: 2_000 })).toEqual({ status: 'completed' })
  expect(new Set(await Promise.all(ended))).toEqual(new Set(['AbortError']))
})

test('a wait outlives a limit, a failure of the service and of the network, and no other error', async () => {
  script = [refuse(429, 1454), refuse(503, 1503), breaks, reads, refuse(404, 3404)]
  vi.mocked(pause).mockResolvedValue()
  const debits = client({ maxRetries: 0 })
  expect(await debits.waitFor(REFERENCE)).toEqual({ status: 'completed' })
  await expect(debits.waitFor(REFERENCE)).rejects.toMatchObject({ name: 'NotFoundError' })
})

test('the waits of a client read at most once in 75 ms', async () => {
  script = [reads]
  const debits = client()
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: 5 }, () => debits.waitFor(REFERENCE)))
  expect(performance.now() - startedAt).toBeGreaterThan(295)
})

test.each(['', undefined])('a debit is not found by the partnerReference %o', async (reference) => {
  script = [respond(200, { success: true, data: [{}], meta: { has_more: false } })]
  await expect(client().findByPartnerReference(reference as never)).rejects.toThrow(TypeError)
})

const unset = [{ apiKey: undefined }, { maxRetries: Number(undefined) }]
test.each([...cases.refused_options.map(camelCased), ...unset])(
  'the options %o are refused without showing the key',
  (options) => {
    expect(() => client(options)).toThrow(TypeError)
    expect(() => client(options)).not.toThrow(/sk_secret/)
  },
)

test.each(cases.refused_ids)('a reference %o is refused: it would change the path', (reference) => {
  return expect(client().get(reference)).rejects.toThrow(TypeError)
})

test('the text of an error has its numbers, the names of its fields and the id of the request', async () => {
  script = [refuse(422, 1007, { details: { phone_number: ['is invalid'], amount: ['is low'] } })]
  const text = '422/1007 Refused: amount, phone_number (request id-1)'
  await expect(client().charge(ORDER)).rejects.toThrow(text)
})

test('the error of a refused connection names its reason', async () => {
  const port = await freePort()
  const options = { apiKey: 'sk_1', baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }
  const failure = new DebitCollection(options).get('DCS-1')
  await expect(failure).rejects.toThrow(`failed: connect ECONNREFUSED 127.0.0.1:${port}`)
})
