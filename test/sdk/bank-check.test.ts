import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { checkBank } from '../../commands/bank-check/cases.ts'
import type { OrderKind } from '../../commands/bank-check/requests.ts'
import { memoryStore, type ReplyStore } from '../../sdk/typescript/src/bank-replies.ts'
import { type BankServerOptions, bankServer } from '../../sdk/typescript/src/bank-server.ts'
import { requestHmac } from '../../shared/request-hmac.ts'
import { whileListening } from '../support/servers.ts'

/** The cases of `debit bank-check`, with faulty banks. */

// The kit logs each request that the check forges.
vi.spyOn(console, 'warn').mockReturnValue()

const secret = 'cs_secret_of_the_bank'
const allKinds: OrderKind[] = ['submission', 'payout', 'refund']

const resultsOf = async (url: string, kinds = allKinds, phone?: string) => {
  const names: string[] = []
  const problems: Record<string, string> = {}
  const target = { url, secret, account: undefined, phone }
  for await (const { name, problem } of checkBank(target, kinds)) {
    names.push(name)
    if (problem) problems[name] = problem
  }
  return { names, problems }
}

type Bank = ReturnType<typeof bankServer>
type BankRequest = IncomingMessage & { body: Buffer }
/** Handles a request unlike the kit. */
type Handler = (bank: Bank, request: BankRequest, response: ServerResponse) => unknown
type Fault = Partial<BankServerOptions> & { handle?: Handler }

const check = async ({ handle, ...options }: Fault, kinds?: OrderKind[], phone?: string) => {
  let count = 0
  const bankReference = () => {
    count += 1
    return `B-${count}`
  }
  const bank = bankServer({
    secret,
    onSubmission: () => ({ status: 'accepted', bankReference: bankReference() }),
    onPayout: () => ({ status: 'paid', bankReference: bankReference() }),
    onRefund: () => ({ status: 'underway' }),
    onError: () => undefined,
    ...options,
  })
  const server = createServer(async (incoming, response) => {
    const body = Buffer.from(await text(incoming))
    const request = Object.assign(incoming, { body })
    await (handle ? handle(bank, request, response) : bank.node(request, response))
  })
  return whileListening(server, (port) =>
    resultsOf(`http://127.0.0.1:${port}/debits`, kinds, phone),
  )
}

/** Returns a store that decides about each request. */
const forgetful = (): ReplyStore => {
  const replies = new Map<string, string>()
  return {
    read: (key) => replies.get(key),
    once: async (key, decide) => {
      const reply = await decide(undefined)
      replies.set(key, reply)
      return reply
    },
  }
}

/** Returns a store that decides again about a fourth request while it has a fifth. */
const raceProne = (): ReplyStore => {
  const store = memoryStore<undefined>()
  const fifth = Promise.withResolvers<void>()
  const counts = new Map<string, number>()
  return {
    read: store.read,
    once: async (key, decide) => {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      if (count === 5) fifth.resolve()
      if (count !== 4) return store.once(key, decide)
      await fifth.promise
      return decide(undefined)
    },
  }
}

const signatureOf = ({ method = '', url = '', body }: BankRequest, timestamp: string): string =>
  requestHmac(secret, { method, path: url, timestamp, body })

const signAgain = (request: BankRequest, timestamp: string): BankRequest => {
  const signature = { 'x-timestamp': timestamp, 'x-signature': signatureOf(request, timestamp) }
  return Object.assign(request, { headers: { ...request.headers, ...signature } })
}

const acceptAnySignature: Handler = (bank, request, response) =>
  bank.node(signAgain(request, String(request.headers['x-timestamp'])), response)

const acceptAnyTime: Handler = (bank, request, response) => {
  const { 'x-timestamp': timestamp, 'x-signature': signature } = request.headers
  const isSigned = signature === signatureOf(request, String(timestamp))
  const now = String(Math.floor(Date.now() / 1_000))
  return bank.node(isSigned ? signAgain(request, now) : request, response)
}

/** Returns a handler that changes the replies to correctly signed requests. */
const replying =
  (change: (body: string, method: string) => { status?: number; body?: string }): Handler =>
  (bank, request, response) => {
    let status = 0
    return bank.node(request, {
      writeHead: (code) => {
        status = code
      },
      end: (body) => {
        const reply = { status, body, ...(status === 200 && change(body, request.method ?? '')) }
        response.writeHead(reply.status, { location: '/' }).end(reply.body)
      },
    })
  }

/** Treats a submission with another account as another submission. */
const compareAccounts: Handler = (bank, request, response) => {
  const body = String(request.body)
  const { uuid, account_number } = JSON.parse(body || '{}')
  if (account_number !== '9990009990') return bank.node(request, response)
  const another = randomUUID()
  Object.assign(request, {
    body: Buffer.from(body.replaceAll(uuid, another)),
    headers: { ...request.headers, 'x-idempotency-key': another },
  })
  signAgain(request, String(request.headers['x-timestamp']))
  return replying((body) => ({ body: body.replaceAll(another, uuid) }))(bank, request, response)
}

const refuseUnknownMembers: Handler = (bank, request, response) => {
  const isUnknown = request.body.includes('added_later')
  return isUnknown ? response.writeHead(400).end() : bank.node(request, response)
}

/** Refuses the uuid of the query for a bank that is down, as it has no version. */
const refuseOtherVersions: Handler = (bank, request, response) =>
  /-0000-[0-9a-f]+$/.test(request.url ?? '')
    ? response.writeHead(422).end()
    : bank.node(request, response)

const beSlowOnce = (): Handler => {
  let milliseconds = 2_050
  return async (bank, request, response) => {
    await pause(milliseconds)
    milliseconds = 0
    return bank.node(request, response)
  }
}

/** Replies to each query with a rejection. */
const knowEachUuid: Handler = (bank, request, response) => {
  if (request.method === 'POST') return bank.node(request, response)
  const { uuid } = /(?<uuid>[^/]+)$/.exec(request.url ?? '')?.groups ?? {}
  const rejected = { status: 'rejected', code: 'timeout', message: 'No', uuid, amount: '123.45' }
  return response.writeHead(422).end(JSON.stringify(rejected))
}

/** Is underway in the first two replies about a payment, then paid. */
const payGradually = (): Fault => {
  const replies = new Map<string, number>()
  return {
    onPayout: () => ({ status: 'underway' }),
    onQuery: ({ uuid }) => {
      const count = (replies.get(uuid) ?? 0) + 1
      replies.set(uuid, count)
      return count > 2 ? { status: 'paid', bankReference: 'B-1' } : undefined
    },
  }
}

const signatures = [
  ...['wrong-signature', 'missing-signature', 'signature-of-another-body'],
  'signature-of-another-path',
]
const times = ['old-timestamp', 'future-timestamp']
const repeats = ['repeat', 'concurrent-repeats', 'early-close']

/** The failing cases of each kind. */
const rows: [string, Fault, string[], OrderKind[]?][] = [
  ['forgets payouts', { store: forgetful() }, repeats, ['payout']],
  [
    'forgets submissions',
    { store: forgetful() },
    [...repeats, 'repeat-with-another-account'],
    ['submission'],
  ],
  ['handles concurrent requests each', { store: raceProne() }, ['concurrent-repeats'], ['payout']],
  [
    'compares accounts',
    { handle: compareAccounts },
    ['repeat-with-another-account'],
    ['submission'],
  ],
  ['refuses unknown members', { handle: refuseUnknownMembers }, ['unknown-members']],
  [
    'refuses uuids of another version',
    { handle: refuseOtherVersions },
    ['query-while-down'],
    ['submission'],
  ],
  [
    'writes amounts without decimals',
    { handle: replying((body) => ({ body: body.replace(/("amount":"[0-9]+)\.00"/, '$1"') })) },
    ['amounts'],
  ],
  [
    'accepts wrong signatures',
    { handle: acceptAnySignature },
    ['query-with-wrong-signature', ...signatures],
  ],
  ['accepts any time', { handle: acceptAnyTime }, times],
  [
    'knows each uuid',
    { handle: knowEachUuid },
    [
      ...['query-before', 'query-after', 'query-while-down', 'query-with-wrong-signature'],
      ...['early-close', ...signatures, ...times],
    ],
    ['submission'],
  ],
  [
    'completes at once',
    { onSubmission: () => ({ status: 'completed', bankReference: 'B' }) },
    [],
    ['submission'],
  ],
  [
    'completes later',
    { onQuery: () => ({ status: 'completed', bankReference: 'B' }) },
    [],
    ['submission'],
  ],
  ['pays between a query and a repeat', payGradually(), [], ['payout']],
  ['pays later', { onQuery: () => ({ status: 'paid', bankReference: 'B-1' }) }, [], ['refund']],
]

test.each(rows)(
  'a bank that %s fails only the cases for it',
  async (_, fault, failing, kinds = allKinds) => {
    const { problems } = await check(fault, kinds)
    const expected = kinds.flatMap((kind) => failing.map((name) => `${kind}-${name}`))
    expect(Object.keys(problems).sort()).toEqual(expected.sort())
    for (const problem of Object.values(problems)) expect(problem).toMatch(/^expected .+, got .+$/)
  },
)

test.each<[string, Fault, string, string]>([
  [
    'replies at length',
    { handle: replying(() => ({ body: 'x'.repeat(16_385) })) },
    'reply-size',
    'at most 16 KiB, got 16385 bytes',
  ],
  [
    'redirects',
    { handle: replying(() => ({ status: 307 })) },
    'no-redirect',
    'no redirect, got HTTP 307',
  ],
  [
    'has an outcome that contradicts its reply',
    { onQuery: () => ({ status: 'rejected', code: 'timeout', message: 'No' }) },
    'query-after',
    '{"status":"accepted"',
  ],
])('a bank that %s fails the case for it', async (_, fault, name, problem) => {
  const { problems } = await check(fault, ['submission'])
  expect(problems[`submission-${name}`]).toContain(`expected ${problem}`)
})

test('a failed case names the wrong member of a reply', async () => {
  const padReference = replying((body) => ({ body: body.replace(/"B-[0-9]+/, '$&\\t') }))
  const { problems } = await check({ handle: padReference }, ['submission'])
  const got = 'got HTTP 200 with a wrong bank_reference {"status":"accepted"'
  expect(problems['submission-reply']).toContain(got)
})

test('a bank that does not reply fails one case, and the check stops', async () => {
  const { names, problems } = await resultsOf('http://127.0.0.1:1/debits')
  expect(names).toEqual(['reachable'])
  expect(problems).toEqual({ reachable: expect.stringContaining('ECONNREFUSED') })
})

const PHONE = '+233241234567'
const AMA = { accountNumber: '1041001001', name: 'Ama Mensah', active: true }
const onAccount: BankServerOptions['onAccount'] = (phone) => (phone === PHONE ? AMA : undefined)
/** Handles questions for an account unlike the kit. */
const accountsBy =
  (handle: Handler): Handler =>
  (bank, request, response) =>
    request.url?.includes('/accounts/')
      ? handle(bank, request, response)
      : bank.node(request, response)

test('a bank that answers for accounts passes the cases of accounts, which need a phone number', async () => {
  const { names, problems } = await check({ onAccount }, [], PHONE)
  const cases = ['of-a-number', 'of-an-unknown-number', 'with-wrong-signature']
  expect(names).toEqual(['reachable', ...cases.map((name) => `account-${name}`), 'reply-times'])
  expect(problems).toEqual({})
  expect((await check({ onAccount }, [])).names).toEqual(['reachable', 'reply-times'])
})

const malformed = (change: object): Fault => ({
  onAccount: (phone) => (phone === PHONE ? { ...AMA, ...change } : undefined),
})

test.each<[string, Fault, Record<string, string>]>([
  [
    'returns malformed accounts',
    malformed({ accountNumber: '12', name: '', active: 'yes' }),
    { 'of-a-number': 'a wrong account_number, name, active: {' },
  ],
  ['has no accounts', {}, { 'of-a-number': 'got HTTP 404' }],
  [
    'has an account for each number',
    { onAccount: () => AMA },
    { 'of-an-unknown-number': 'expected HTTP 404, got HTTP 200' },
  ],
  [
    'accepts wrong signatures',
    { onAccount, handle: acceptAnySignature },
    { 'with-wrong-signature': 'expected HTTP 401, got HTTP 200' },
  ],
  [
    'closes the connection',
    { handle: accountsBy((_, request) => request.socket.destroy()) },
    {
      'of-a-number': 'a complete reply',
      'of-an-unknown-number': 'a complete reply',
      'with-wrong-signature': 'a complete reply',
    },
  ],
])('a bank that %s about accounts fails only the cases for it', async (_, fault, expected) => {
  const { problems } = await check(fault, [], PHONE)
  const named = Object.entries(expected).map(([name, text]) => [
    `account-${name}`,
    expect.stringContaining(text),
  ])
  expect(problems).toEqual(Object.fromEntries(named))
})

test.concurrent('a bank that replies late once fails only the case `reply-times`', async () => {
  const { problems } = await check({ handle: beSlowOnce() }, ['submission'])
  expect(problems).toEqual({
    'reply-times': expect.stringMatching(
      /^expected each reply within 2 s, got \w+ .+ after 2\.\d s$/,
    ),
  })
})

test.concurrent('a late account fails the case `reply-times`', async () => {
  const { problems } = await check({ onAccount, handle: accountsBy(beSlowOnce()) }, [], PHONE)
  expect(problems).toEqual({ 'reply-times': expect.stringContaining('got GET /accounts after 2.') })
})
