import { createHmac } from 'node:crypto'
import {
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { answerUnmatched } from '../../functions/gateway/answer-unmatched.ts'
import { actingAs, authorizeCallsOf } from '../../sandbox/authorizer.ts'
import { type OperationName, operationNames, operations } from '../../shared/api/operations.ts'
import type { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import { real } from '../../shared/runtime.ts'
import { sealRequestSecret } from '../../shared/store/providers/request-secrets.ts'
import { table } from '../../shared/store/table.ts'
import { demoProvider, gcb, NOON, still } from '../support/examples.ts'
import { rowsOf } from '../support/rows.ts'
import { sampleEvent } from '../support/running-service.ts'

/** Rate limits: overrides, scopes, rejected requests, and the cost above a limit. */

const calls = mockClient(table)
authorizeCallsOf(table)

const context = { getRemainingTimeInMillis: () => 28_000 } as unknown as Context

process.env.POWERTOOLS_METRICS_DISABLED = 'false'
const written: string[] = []
const spy = vi
  .spyOn(process.stdout, 'write')
  .mockImplementation((part) => written.push(String(part)) > 0)

/** Counted requests by the key of their window, and the count at which a new window starts. */
const windows = new Map<string, number>()
let usedBefore = 0

// The clock stands: all requests of a test are in one minute.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON }))
afterAll(() => {
  vi.useRealTimers()
  spy.mockRestore()
})

beforeEach(() => {
  windows.clear()
  usedBefore = 0
  written.length = 0
  calls.reset()
  calls.on(GetCommand).resolves({})
  calls.on(TransactWriteCommand).resolves({})
  calls.on(QueryCommand).callsFake((input) => ({
    Items: JSON.stringify(input).includes('BANKS') ? [{ ...gcb, pk: 'BANKS', sk: 'GCB' }] : [],
  }))
  calls.on(UpdateCommand).callsFake(({ Key }) => {
    const requests = Math.max(windows.get(Key.pk) ?? 0, usedBefore) + 1
    windows.set(Key.pk, requests)
    return { Attributes: { requests } }
  })
})

let tokens = 0

type Settings = Partial<Pick<Provider, 'requestLimits' | 'requestSigning' | 'allowedAddresses'>> & {
  status?: string
}

/** Headers in place of a valid credential, and the address of the peer. */
type Request = { headers?: Record<string, string | string[]>; address?: string | undefined }

/** Returns a function that sends the sample of an operation with a new token of its caller. */
const callerOf = (name: OperationName, settings: Settings = {}) => {
  const { caller } = operations[name]
  calls
    .on(GetCommand, { Key: { pk: 'PROVIDER#demo', sk: 'PROVIDER' } })
    .resolves({ Item: { ...demoProvider, ...settings } })
  calls
    .on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } })
    .resolves({ Item: { ...gcb, ...settings } })
  calls
    .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
    .resolves({ Item: { kind: caller, owner: caller === 'bank' ? 'GCB' : 'demo', createdAt: '' } })
  tokens += 1
  const authorization = { Authorization: `Bearer token-${tokens}` }
  return async (sent: Request = {}) => {
    const { handler } = (await import(`../../functions/${caller}/${name}.ts`)) as {
      handler: (event: APIGatewayProxyEvent, context: Context) => Promise<Reply>
    }
    const sample = (await sampleEvent(name)) as unknown as APIGatewayProxyEvent
    const multiValueHeaders = Object.fromEntries(
      Object.entries(sent.headers ?? authorization).map(([key, value]) => [key, [value].flat()]),
    )
    const sourceIp = 'address' in sent ? sent.address : '198.51.100.7'
    const requestContext = { ...sample.requestContext, identity: { sourceIp } }
    const event = { ...sample, headers: {}, multiValueHeaders, requestContext }
    return actingAs(name, () => handler(event as APIGatewayProxyEvent, context))
  }
}

type Reply = { statusCode: number; headers: Record<string, string>; body: string }

const answer = ({ statusCode, body }: Reply) => `${statusCode}/${JSON.parse(body).error?.code}`

const commandNames = () => calls.calls().map(({ args }) => args[0].constructor.name)

describe('a request above its limit', () => {
  const waiting = operationNames.filter((name) => !('readsInParallel' in operations[name]))

  test('waits for its count unless the operation is a cheap point read', () => {
    const parallel = operationNames.filter((name) => !waiting.includes(name))
    expect(parallel).toEqual([
      'get-debit-request',
      'list-banks',
      'get-bank',
      'lookup-customer-banks',
      'get-settlement',
    ])
  })

  test.each(waiting)('to %s makes the count alone and no read', async (name) => {
    const send = callerOf(name)
    await send()
    calls.resetHistory()
    usedBefore = 5_000
    expect(answer(await send())).toBe(`429/${operations[name].limit.code}`)
    // A bank report prefetches one item.
    const prefetched = operations[name].path.includes('{uuid}') ? ['GetCommand'] : []
    expect(commandNames()).toEqual([...prefetched, 'UpdateCommand'])
  })
})

/** Published requests per minute (docs/api.md#rate-limits). */
const limits = `
  operation                 production  sandbox
  charge                    1000        100
  get-debit-request         200         60
  list-debit-requests       200         60
  list-banks                200         60
  get-bank                  200         60
  lookup-customer-banks     200         60
  list-debit-transactions   200         60
  update-debit-transaction  30          10
  debit-callback            200         60
  list-settlements          200         60
  get-settlement            200         60
  get-settlement-report     200         60
  list-deliveries           200         60
  redeliver-event           200         60
  list-events               200         60
  test-webhook              10          10
`

test('has a row here for every operation', () => {
  expect(
    rowsOf(limits)
      .slice(1)
      .map(([name]) => name)
      .sort(),
  ).toEqual([...operationNames].sort())
})

test.each(rowsOf(limits).slice(1))(
  '%s allows %s a minute in production, %s in the sandbox',
  async (...row) => {
    const [name = '', ...allowed] = row
    for (const [index, stage] of ['production', 'sandbox'].entries()) {
      process.env.STAGE = stage
      windows.clear()
      const limit = Number(allowed[index])
      const reply = await callerOf(name as OperationName)()
      expect(standing(reply)).toEqual([limit, limit - 1])
      expect(reply.headers['X-RateLimit-Reset']).toMatch(/^[0-9]{10}$/)
    }
  },
)

/** Returns the limit and the remaining requests from the headers. */
const standing = ({ headers }: Reply) =>
  [headers['X-RateLimit-Limit'], headers['X-RateLimit-Remaining']].map(Number)

describe('an override', () => {
  test.each([
    ['charge', 5_000],
    ['list-debit-requests', 7],
    ['update-debit-transaction', 600],
    ['list-debit-transactions', 1],
  ] as const)('of %s replaces the published limit with %i', async (name, perMinute) => {
    const send = callerOf(name, { requestLimits: { [name]: perMinute } })
    expect(standing(await send())).toEqual([perMinute, perMinute - 1])
    usedBefore = perMinute
    const refused = await send()
    expect(answer(refused)).toBe(`429/${operations[name].limit.code}`)
    expect(details(refused)).toMatchObject({ limit: perMinute, period: 'minute' })
    expect(standing(refused)).toEqual([perMinute, 0])
  })

  test('of another operation has no effect, and none needs an additional read', async () => {
    const send = callerOf('charge', { requestLimits: { 'list-banks': 7 } })
    expect(standing(await send())).toEqual([100, 99])
    expect(commandNames().slice(0, 3)).toEqual(['GetCommand', 'GetCommand', 'UpdateCommand'])
  })

  test.each([
    [60, 1_000],
    [120, 2_000],
    [30, 500],
    [1, 17],
  ])('of %i status reads per reference allows %i for all references', async (limit, ofAll) => {
    const send = callerOf('get-debit-request', { requestLimits: { 'get-debit-request': limit } })
    expect(standing(await send())).toEqual([limit, limit - 1])
    const all = [...windows.keys()].find((pk) => pk.split('#').length === 4) ?? ''
    windows.clear()
    windows.set(all, ofAll - 1)
    expect((await send()).statusCode).toBe(404)
    const refused = await send()
    expect([answer(refused), ...standing(refused)]).toEqual(['429/1454', ofAll, 0])
  })
})

const bankOperations = operationNames.filter((name) => operations[name].caller === 'bank')

describe('the scope of a limit', () => {
  test.each(bankOperations)('of %s is one token of the bank with the full limit', async (name) => {
    const first = callerOf(name)
    const [limit, remaining] = standing(await first())
    expect(standing(await callerOf(name)())).toEqual([limit, remaining])
    expect(standing(await first())).toEqual([limit, Number(remaining) - 1])
  })

  test('is the provider for all its credentials', async () => {
    await callerOf('charge')()
    expect(standing(await callerOf('charge')())).toEqual([100, 98])
  })
})

const details = ({ body }: Reply) => JSON.parse(body).details

describe('the Authorization header', () => {
  test.each(['Bearer', 'bearer', 'Token', 'tOKEN'])('accepts the scheme %s', async (scheme) => {
    const reply = await callerOf('list-banks')({
      headers: { authorization: `${scheme} token-any` },
    })
    expect(reply.statusCode).toBe(200)
  })

  const missing = 'the Authorization header is missing'
  const twice = 'the request has more than one Authorization header'
  const scheme = 'the scheme of the Authorization header must be Bearer or Token'
  const malformed = 'the token is malformed'
  const unknown = 'the credential is unknown, expired or of another kind of caller'

  const rows: [string | string[] | undefined, string][] = [
    [undefined, missing],
    ['', missing],
    [['Bearer a', 'Bearer a'], twice],
    ...['Basic c2s6c2s=', 'sk_sandbox_demo', 'Bearers x'].map((text): [string, string] => [
      text,
      scheme,
    ]),
    ...['Bearer', 'Bearer ', 'Bearer  x', 'Bearer x, Bearer x', 'Bearer x\n'].map(
      (text): [string, string] => [text, malformed],
    ),
    [`Bearer ${'x'.repeat(10_000)}`, malformed],
    ['Bearer unknown', unknown],
    [`Bearer sk_test_${'0'.repeat(39)}`, unknown],
  ]

  test.each(rows)('%j gets 401/1401 with the problem in details', async (value, problem) => {
    const send = callerOf('list-banks')
    calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({})
    const reply = await send({ headers: value === undefined ? {} : { Authorization: value } })
    expect([answer(reply), details(reply)]).toEqual(['401/1401', problem])
    const error = { message: 'Unauthorized', details: problem }
    expect(JSON.parse(reply.body).error).toMatchObject(error)
  })

  test.each([
    { kind: 'provider', owner: 'demo', createdAt: '', revokedAt: '2026-01-01' },
    { kind: 'provider', owner: 'demo', createdAt: '', expiresOn: '2026-01-01' },
    { kind: 'bank', owner: 'GCB', createdAt: '' },
  ])('with the credential %o gets the bytes of an unknown one', async (Item) => {
    const send = callerOf('list-banks')
    calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({ Item })
    const reply = await send({ headers: { Authorization: `Bearer known-${tokens}` } })
    expect([details(reply), reply.headers['X-RateLimit-Limit']]).toEqual([unknown, '30'])
    expect(JSON.parse(reply.body).error).toEqual({
      ...{ code: 1401, message: 'Unauthorized', category: 'authentication' },
      ...{ severity: 'high', details: unknown },
    })
  })
})

/** Sends requests one after another. */
const times = async (count: number, send: () => Promise<Reply>): Promise<Reply[]> => {
  const replies: Reply[] = []
  while (replies.length < count) replies.push(await send())
  return replies
}

describe('a failed credential', () => {
  const headers = { Authorization: 'Bearer unknown' }

  // Which addresses share a scope: test/api/address.test.ts.
  test.each([
    ['one address', '2001:db8:0:1::1', '2001:DB8::1:ffff:0:0:9', '429/1453'],
    ['another address', '198.51.100.7', '198.51.100.8', '401/1401'],
    ['no address and an unparsable one', undefined, 'unix:', '429/1453'],
  ])('counts per address: %s', async (_name, address, other, expected) => {
    const send = callerOf('list-banks')
    calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({})
    const replies = await times(30, () => send({ headers, address }))
    expect(new Set(replies.map(answer))).toEqual(new Set(['401/1401']))
    expect(answer(await send({ headers, address: other }))).toBe(expected)
    expect(answer(await callerOf('list-banks')({ address }))).toBe('200/undefined')
  })
})

process.env.SEALING_KEY = 'a text for tests'
const requestSecret = 'rs_of_twenty_letters'
const signed = {
  requestSigning: { secret: await sealRequestSecret('demo' as ProviderId, requestSecret, real) },
}

describe('a rejection of a known key', () => {
  const old = { 'X-Signature': 'x', 'X-Timestamp': '1000000000' }
  const rejections: [string, Settings, Record<string, string>, string][] = [
    ['a missing signature', signed, {}, '401/1401'],
    ['an expired timestamp', signed, old, '401/1401'],
    ['a malformed timestamp', signed, { ...old, 'X-Timestamp': 'now' }, '400/1400'],
    ['an address outside the list', { allowedAddresses: ['203.0.113.0/24'] }, {}, '403/1451'],
    ['a suspended provider', { status: 'suspended' }, {}, '403/1403'],
  ]

  test.each(rejections)('counts per key and address: %s', async (_name, settings, more, code) => {
    const send = callerOf('list-banks', settings)
    const headers = { Authorization: `Bearer token-${tokens}`, ...more }
    const outcomes = await times(31, () => send({ headers }))
    expect(outcomes.map(answer)).toEqual([...Array(30).fill(code), '429/1453'])
    expect(standing(outcomes[29] as Reply)).toEqual([30, 0])
    expect(details(outcomes[30] as Reply)).toMatchObject({ limit: 30, period: 'minute' })
    // No other address, key or window of the provider is affected.
    expect(answer(await send({ headers, address: '192.0.2.1' }))).toBe(code)
    expect(answer(await callerOf('list-banks', settings)({}))).not.toBe('429/1453')
    expect([...windows.keys()].filter((pk) => pk.startsWith('WINDOW#list-banks'))).toEqual([])
  })

  test('never affects valid requests with the same key from the same address', async () => {
    const send = callerOf('list-banks', signed)
    const path = operations['list-banks'].path
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', requestSecret)
      .update(`GET${path}${timestamp}`)
      .digest('hex')
    const good = { Authorization: `Bearer token-${tokens}`, 'X-Timestamp': timestamp }
    await times(40, () => send({ headers: { ...good, 'X-Signature': 'x' } }))
    const reply = await send({ headers: { ...good, 'X-Signature': signature } })
    expect(answer(reply)).toBe('200/undefined')
    expect(standing(reply)).toEqual([60, 59])
  })
})

describe('a request that no operation matches', () => {
  const send = (path: string, sourceIp = '198.51.100.7') => {
    const requestContext = { identity: { sourceIp } } as APIGatewayProxyEvent['requestContext']
    return actingAs('answer-unmatched', () =>
      answerUnmatched(still())({ path, requestContext }),
    ) as Promise<Reply>
  }

  test.each([
    ['/api/v1/unknown', '404/1404', 'sandbox', 30],
    ['/api/v1/unknown', '404/1404', 'production', 60],
    [operations.charge.path, '405/1405', 'sandbox', 30],
  ])(
    '%s gets %s up to the general limit of %s, then 429/1453',
    async (path, code, stage, limit) => {
      process.env.STAGE = stage
      const outcomes = await times(limit + 1, () => send(path))
      expect(outcomes.map(answer)).toEqual([...Array(limit).fill(code), '429/1453'])
      expect(outcomes.map(standing).slice(0, 2)).toEqual([
        [limit, limit - 1],
        [limit, limit - 2],
      ])
      const over = outcomes[limit] as Reply
      expect(details(over)).toEqual({ limit, period: 'minute', retry_after: expect.any(Number) })
      expect(over.headers['Retry-After']).toBe(String(details(over).retry_after))
      expect(answer(await send(path, '198.51.100.8'))).toBe(code)
      process.env.STAGE = 'sandbox'
    },
  )

  test('gets 404 or 405 when the table cannot count it', async () => {
    calls.on(UpdateCommand).rejects(Object.assign(new Error('down'), { name: 'TimeoutError' }))
    const reply = await send('/api/v1/unknown')
    expect(answer(reply)).toBe('404/1404')
    expect(standing(reply)).toEqual([30, 30])
    expect(answer(await send(operations.charge.path))).toBe('405/1405')
  })
})

/** Returns the metrics of each line of the test, without common members. */
const metrics = () =>
  written.map((line) => {
    const { _aws, service, ...rest } = JSON.parse(line)
    expect(service).toBe('debit-collection-sandbox')
    return rest
  })

describe('the metrics of operations', () => {
  test.each(bankOperations)('of %s have one line with one metric for each 4xx', async (name) => {
    const send = callerOf(name)
    expect((await send()).statusCode).toBeLessThan(500)
    usedBefore = 5_000
    await send()
    expect(metrics()).toEqual([{ BankRequestsRefused: 1 }, { BankRequestsLimited: 1 }])
  })

  test.each(bankOperations)('of %s have one line for a failed credential', async (name) => {
    const send = callerOf(name)
    await send({ headers: {} })
    usedBefore = 5_000
    expect(answer(await send({ headers: {} }))).toBe('429/1453')
    const suspended = callerOf(name, { status: 'suspended' })
    usedBefore = 0
    windows.clear()
    const replies = await times(31, () => suspended())
    expect(replies.map(answer)).toEqual([...Array(30).fill('403/1403'), '429/1453'])
    expect(metrics()).toEqual(Array(33).fill({ BankCredentialsRefused: 1 }))
  })

  test('have no line for a success, a fault or a provider', async () => {
    const provider = callerOf('list-banks')
    await provider({ headers: {} })
    usedBefore = 5_000
    await provider()
    usedBefore = 0
    const send = callerOf('list-debit-transactions')
    const account = { customerName: 'Ama', accountNumber: '1041001001', accountType: 'savings' }
    const Item = { ...account, status: 'active' }
    calls.on(GetCommand, { Key: { sk: 'ACCOUNT#GCB' } }, false).resolves({ Item })
    expect((await send()).statusCode).toBe(200)
    calls.on(UpdateCommand).rejects(Object.assign(new Error('down'), { name: 'TimeoutError' }))
    expect((await send()).statusCode).toBe(503)
    expect(metrics()).toEqual([])
  })
})
