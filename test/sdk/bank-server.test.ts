import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import * as v from 'valibot'
import { expect, test, vi } from 'vitest'
import { replyStore } from '../../sdk/typescript/examples/reply-store.ts'
import { type Kind, memoryStore, replyText } from '../../sdk/typescript/src/bank-replies.ts'
import { type BankServerOptions, bankServer } from '../../sdk/typescript/src/bank-server.ts'
import { BankReference } from '../../shared/domain/debits/bank-update.ts'
import { requestHmac } from '../../shared/request-hmac.ts'
import { camelCased } from '../support/camel-case.ts'
import { whileListening } from '../support/servers.ts'

/** The kit for banks (docs/bank-protocol.md#start-with-the-kit): the cases of both kits, and its own. */

type Result = Record<string, unknown> | null
type Step = { [Name in Kind | 'outcome']?: Result } & {
  post?: string
  query?: string
  secret?: string
  seconds?: number
  status?: number
  reply?: object
}
type Scenario = {
  name: string
  payments?: boolean
  secret?: string[]
  steps: Step[]
  handled?: Partial<Record<Kind, number>>
  asked?: Kind[]
}

const cases: {
  order: { uuid: string; amount: string }
  scenarios: Scenario[]
  impossible_results: { result?: Record<string, unknown>; error: string }[]
  empty_secrets: (string | string[])[]
  refused: (Sent & { name: string; status: number; error?: string; blanks?: number })[]
} = JSON.parse(readFileSync('sdk/cases/bank.json', 'utf8'))

const warn = vi.spyOn(console, 'warn').mockReturnValue()

const SECRET = 'cs_secret_of_the_bank'

const { order } = cases
const { uuid, amount } = order

type Sent = {
  method?: string
  path?: string
  body?: string
  secret?: string
  seconds?: number
  headers?: Record<string, string | null>
}

/** Returns a signed request, by default the submission of the order. */
const requestTo = ({
  method = 'POST',
  path = '/submissions',
  body = JSON.stringify(order),
  secret = SECRET,
  seconds = 0,
  headers,
}: Sent) => {
  const timestamp = String(Math.floor(Date.now() / 1_000) + seconds)
  const signature = requestHmac(secret, { method, path: `/bank${path}`, timestamp, body })
  const own = { 'x-idempotency-key': uuid, 'x-timestamp': timestamp, 'x-signature': signature }
  return new Request(`http://127.0.0.1/bank${path}`, {
    method,
    headers: Object.entries({ ...own, ...headers }).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as [string, string]],
    ),
    body: body || null,
  })
}

/** Opens a bank that returns the results that a test sets, unless the options differ. */
const openBank = ({
  payments = true,
  ...options
}: Partial<BankServerOptions> & { payments?: boolean | undefined } = {}) => {
  const results: Record<string, Result> = {
    submission: { status: 'accepted', bank_reference: 'B-1' },
    payout: { status: 'underway' },
    refund: { status: 'paid', bank_reference: 'P-1' },
    outcome: null,
  }
  const errors: unknown[] = []
  const handler = (kind: string) =>
    vi.fn(async (..._request: unknown[]): Promise<never> => {
      const result = results[kind]
      if (result?.throws) throw new Error(String(result.throws))
      return (result ? camelCased(result) : undefined) as never
    })
  const handled = {
    submission: handler('submission'),
    payout: handler('payout'),
    refund: handler('refund'),
  }
  const onQuery = handler('outcome')
  const bank = bankServer({
    secret: SECRET,
    onSubmission: handled.submission,
    onQuery,
    ...(payments && { onPayout: handled.payout, onRefund: handled.refund }),
    onError: (error) => errors.push(error),
    ...options,
  })
  const send = async (sent: Sent) => {
    const reply = await bank.fetch(requestTo(sent))
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }
  const query = (path = 'submissions') =>
    send({ method: 'GET', path: `/${path}/${uuid}`, body: '' })
  return { bank, results, handled, onQuery, errors, send, query }
}

for (const {
  name,
  payments,
  secret = SECRET,
  steps,
  handled: counts = {},
  asked,
} of cases.scenarios) {
  test(name, async () => {
    const { results, handled, onQuery, errors, send, query } = openBank({ payments, secret })
    const kinds = ['submission', 'payout', 'refund', 'outcome'] as const
    for (const step of steps) {
      for (const kind of kinds) results[kind] = step[kind] ?? results[kind] ?? null
      const { secret = SECRET, seconds = 0 } = step
      const sent = { path: `/${step.post}`, secret, seconds }
      const reply = step.post ? await send(sent) : step.query && (await query(step.query))
      if (!reply) continue
      const refusals: Record<number, string> = { 404: 'not received', 500: 'internal error' }
      const { status = 200 } = step
      const body = step.reply ? { ...step.reply, uuid, amount } : { error: refusals[status] }
      expect(reply).toEqual({ status, body })
    }
    for (const [kind, count] of Object.entries(counts)) {
      const requests = Array(count).fill([order, undefined])
      expect(handled[kind as Kind].mock.calls).toEqual(requests)
    }
    if (asked) expect(onQuery.mock.calls).toEqual(asked.map((kind) => [{ kind, uuid }]))
    const thrown = steps.flatMap(({ submission }) => submission?.throws ?? [])
    expect(errors).toEqual(thrown.map((message) => new Error(String(message))))
  })
}

test.each([
  ['in memory', memoryStore<undefined>()],
  ['in SQLite', replyStore(new DatabaseSync(':memory:'))],
])('the first reply, %s, answers simultaneous repeats and queries', async (_, store) => {
  const { handled, send, query } = openBank({ store })
  const other = JSON.stringify({ ...order, account_number: '1' })
  const decision = Promise.withResolvers<void>()
  handled.submission.mockImplementationOnce(async () => {
    decision.resolve()
    await pause(50)
    return { status: 'accepted', bankReference: 'B-1' } as never
  })
  const first = send({})
  await decision.promise
  const later = [query(), ...[{}, {}, { body: other }].map(send)]
  const replies = await Promise.all([first, ...later])
  for (const { body } of replies) expect(body).toMatchObject({ bank_reference: 'B-1' })
  expect(handled.submission).toHaveBeenCalledTimes(1)
})

test.each(cases.empty_secrets)('a signature cannot be verified with the secret %j', (...secret) => {
  expect(() => openBank({ secret: secret.flat() })).toThrow(new TypeError('secret is empty'))
})

for (const { name, status, error, blanks, ...sent } of cases.refused) {
  test(name, async () => {
    warn.mockClear()
    const { send, query, handled } = openBank()
    const reply = await send(blanks ? { ...sent, body: ' '.repeat(blanks) } : sent)
    expect(reply).toEqual({ status, body: { error: error ?? expect.any(String) } })
    expect(warn.mock.calls).toEqual(error ? [[`Refused a request: ${error}`]] : [])
    expect((await query()).status).toBe(404)
    expect(handled.submission).not.toHaveBeenCalled()
  })
}

test.each(cases.impossible_results)(
  'a handler cannot return $result, which the service would reject',
  async ({ result, error }) => {
    const onSubmission = async () => (result && camelCased(result)) as never
    const { send, query, errors } = openBank({ onSubmission })
    expect((await send({})).status).toBe(500)
    expect(String(errors)).toContain(error.replace('bank_reference', 'bankReference'))
    expect((await query()).status).toBe(404)
  },
)

test('a handler can return exactly the references that the service accepts', () => {
  const isReturned = (bankReference: string): boolean => {
    try {
      return replyText('submission', order, { status: 'accepted', bankReference }) !== ''
    } catch {
      return false
    }
  }
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  const references = [...characters, 'a', '\u{E0001}', '😀'].flatMap((one) => [one, `a${one}`])
  const differing = references.filter((text) => isReturned(text) !== v.is(BankReference, text))
  expect(differing).toEqual([])
})

test('a reply has the first 2,000 characters of a message', async () => {
  const { results, send } = openBank()
  results.submission = { status: 'rejected', code: 'timeout', message: `\n${'é'.repeat(17_000)}` }
  expect((await send({})).body).toMatchObject({ message: 'é'.repeat(2_000) })
})

const throws = () => {
  throw new Error('no database')
}

test.each([
  ['throws', throws],
  ['rejects', async () => throws()],
])('a bank whose onError %s answers 500', async (_, onError) => {
  const { send } = openBank({ onSubmission: throws, onError })
  expect((await send({})).status).toBe(500)
})

test('a handler gets the transaction of a durable store, which keeps the reply', async () => {
  const replies = new Map<string, string>()
  const transactions: object[] = []
  const bank = bankServer<{ id: number }>({
    secret: SECRET,
    store: {
      read: (key) => replies.get(key),
      once: async (key, decide) => {
        const reply = replies.get(key) ?? (await decide({ id: replies.size }))
        replies.set(key, reply)
        return reply
      },
    },
    onSubmission: (_, transaction) => {
      transactions.push(transaction)
      return { status: 'accepted', bankReference: 'B-1' }
    },
  })
  for (const _ of [1, 2]) expect((await bank.fetch(requestTo({}))).status).toBe(200)
  expect(transactions).toEqual([{ id: 0 }])
  expect([...replies.keys()]).toEqual([`submission/${uuid}`])
})

const post = async (port: number, sent: Sent = {}) => {
  const request = requestTo(sent)
  const url = request.url.replace('127.0.0.1', `127.0.0.1:${port}`)
  const reply = await fetch(new Request(url, request))
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
}

test('a listener replies like the fetch handler, also to a body above the limit', async () => {
  const { bank } = openBank()
  await whileListening(createServer(bank.node), async (port) => {
    expect(await post(port)).toMatchObject({ body: { status: 'accepted' } })
    const query = { method: 'GET', path: `/submissions/${uuid}`, body: '' }
    expect(await post(port, query)).toMatchObject({ status: 200, body: { uuid } })
    const large = JSON.stringify({ ...order, narration: 'x'.repeat(1_000_000) })
    expect((await post(port, { body: large })).status).toBe(413)
  })
})

test.each([
  ['raw bytes', (text: string): unknown => Buffer.from(text), 200],
  ['a parsed body', JSON.parse, 500],
  ['no body', () => undefined, 500],
])('a listener below a parser that leaves %s replies %s', async (_, parse, status) => {
  const { bank, errors } = openBank()
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    const body = parse(Buffer.concat(chunks).toString())
    await bank.node(Object.assign(request, { body, originalUrl: request.url, url: '/' }), response)
  })
  await whileListening(server, async (port) => {
    expect((await post(port)).status).toBe(status)
  })
  expect(String(errors)).toBe(
    status === 200
      ? ''
      : 'TypeError: the body is parsed already: install no parser before this listener',
  )
})

test('the account of a number is asked with a signature, and a number without one gets 404', async () => {
  const account = { account_number: '1041001001', name: 'Ama Mensah', active: true }
  const { account_number: _, ...rest } = account
  const { fetch } = bankServer({
    secret: SECRET,
    onSubmission: () => ({ status: 'accepted', bankReference: 'B-1' }),
    onAccount: (phone) =>
      phone === '+233241234567' ? { ...rest, accountNumber: account.account_number } : undefined,
  })
  const ask = (phone: string, secret?: string) =>
    fetch(
      requestTo({ method: 'GET', path: `/accounts/${phone}`, body: '', ...(secret && { secret }) }),
    )
  const found = await ask('+233241234567')
  expect([found.status, await found.json()]).toEqual([200, account])
  expect((await ask('+233240000000')).status).toBe(404)
  expect((await ask('+233241234567', 'another secret')).status).toBe(401)
})
