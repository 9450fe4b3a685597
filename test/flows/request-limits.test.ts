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

const account = {
  customerName: 'Ama Mensah',
  accountNumber: '1041001001',
  accountType: 'savings',
  status: 'active',
}

/** Returns the limit and the remaining requests from the headers. */
const standing = ({ headers }: Reply) =>
  [headers['X-RateLimit-Limit'], headers['X-RateLimit-Remaining']].map(Number)

describe('an override', () => {
  const rows = [
    ['charge', 5_000],
    ['list-debit-requests', 7],
    ['update-debit-transaction', 600],
    ['debit-callback', 3_000],
    ['list-debit-transactions', 1],
  ] as const

  test.each(rows)('of %s replaces the published limit with %i', async (name, perMinute) => {
    const send = callerOf(name, { requestLimits: { [name]: perMinute } })
    expect(standing(await send())).toEqual([perMinute, perMinute - 1])
    usedBefore = perMinute
    const refused = await send()
    expect(answer(refused)).toBe(`429/${operations[name].limit.code}`)
    expect(JSON.parse(refused.body).details).toMatchObject({ limit: perMinute, period: 'minute' })
    expect(standing(refused)).toEqual([perMinute, 0])
  })

  test('of another operation has no effect', async () => {
    const send = callerOf('charge', { requestLimits: { 'list-banks': 7 } })
    expect(standing(await send())).toEqual([100, 99])
  })

  test('needs no additional read', async () => {
    const send = callerOf('charge', { requestLimits: { charge: 5_000 } })
    await send()
    expect(commandNames().slice(0, 3)).toEqual(['GetCommand', 'GetCommand', 'UpdateCommand'])
  })

  test.each([
    [60, 60, 1_000],
    [120, 120, 2_000],
    [30, 30, 500],
    [1, 1, 17],
  ])('of %i status reads allows %i per reference and %i for all references', async (...row) => {
    const [perMinute, perReference, ofAll] = row
    const send = callerOf('get-debit-request', {
      requestLimits: { 'get-debit-request': perMinute },
    })
    expect(standing(await send())).toEqual([perReference, perReference - 1])
    const all = [...windows.keys()].find((pk) => pk.split('#').length === 4) ?? ''
    windows.clear()
    windows.set(all, ofAll - 1)
    expect((await send()).statusCode).toBe(404)
    expect(standing(await send())).toEqual([ofAll, 0])
  })
})

describe('the scope of a limit', () => {
  const bankOperations = operationNames.filter((name) => operations[name].caller === 'bank')

  test.each(bankOperations)('of %s is one token of the bank with the full limit', async (name) => {
    const first = callerOf(name)
    const [limit, remaining] = standing(await first())
    const second = callerOf(name)
    expect(standing(await second())).toEqual([limit, remaining])
    expect(standing(await first())).toEqual([limit, Number(remaining) - 1])
  })

  test('is the provider for all its credentials', async () => {
    await callerOf('charge')()
    expect(standing(await callerOf('charge')())).toEqual([100, 98])
  })
})

const details = ({ body }: Reply) => JSON.parse(body).details

describe('the Authorization header', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'Token', 'token', 'tOKEN'])(
    'accepts its scheme in any case: %s',
    async (scheme) => {
      const send = callerOf('list-banks')
      const { statusCode } = await send({ headers: { authorization: `${scheme} token-any` } })
      expect(statusCode).toBe(200)
    },
  )

  const missing = 'the Authorization header is missing'
  const scheme = 'the scheme of the Authorization header must be Bearer or Token'
  const malformed = 'the token is malformed'
  const unknown = 'the credential is unknown, expired or of another kind of caller'

  const rows: [string, Record<string, string | string[]>, string][] = [
    ['absent', {}, missing],
    ['empty', { Authorization: '' }, missing],
    [
      'given twice',
      { Authorization: ['Bearer a', 'Bearer a'] },
      'the request has more than one Authorization header',
    ],
    ['of another scheme', { Authorization: 'Basic c2s6c2s=' }, scheme],
    ['a bare token', { Authorization: 'sk_sandbox_demo' }, scheme],
    ['a scheme that only begins so', { Authorization: 'Bearers x' }, scheme],
    ['without a token', { Authorization: 'Bearer' }, malformed],
    ['without a token after a blank', { Authorization: 'Bearer ' }, malformed],
    ['with two blanks', { Authorization: 'Bearer  x' }, malformed],
    ['with two tokens', { Authorization: 'Bearer x, Bearer x' }, malformed],
    ['with a line end', { Authorization: 'Bearer x\n' }, malformed],
    ['of 10 kB', { Authorization: `Bearer ${'x'.repeat(10_000)}` }, malformed],
    ['with an unknown token', { Authorization: 'Bearer unknown' }, unknown],
    [
      'with a token that fails its checksum',
      { Authorization: `Bearer sk_test_${'0'.repeat(39)}` },
      unknown,
    ],
  ]

  test.each(rows)(
    'with %s gets 401/1401 with the problem in details',
    async (_name, headers, problem) => {
      const send = callerOf('list-banks')
      calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({})
      const reply = await send({ headers })
      expect(answer(reply)).toBe('401/1401')
      expect(details(reply)).toBe(problem)
      expect(JSON.parse(reply.body).error).toMatchObject({
        message: 'Unauthorized',
        details: problem,
      })
    },
  )

  test.each([
    ['revoked', { kind: 'provider', owner: 'demo', createdAt: '', revokedAt: '2026-01-01' }],
    ['expired', { kind: 'provider', owner: 'demo', createdAt: '', expiresOn: '2026-01-01' }],
    ['of a bank', { kind: 'bank', owner: 'GCB', createdAt: '' }],
  ])('with a %s credential gets the bytes of an unknown one', async (_name, Item) => {
    const send = callerOf('list-banks')
    const headers = { Authorization: `Bearer known-${tokens}` }
    calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({ Item })
    const { body, headers: replied } = await send({ headers })
    const { error, details: shown } = JSON.parse(body)
    expect({ shown, limit: replied['X-RateLimit-Limit'] }).toEqual({ shown: unknown, limit: '30' })
    expect(error).toEqual({
      code: 1401,
      message: 'Unauthorized',
      category: 'authentication',
      severity: 'high',
      details: unknown,
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
  const wrong = { Authorization: 'Bearer unknown' }
  const failing = () => {
    const send = callerOf('list-banks')
    calls.on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false).resolves({})
    return send
  }

  const blocks: [string, string, string, boolean][] = [
    ['one IPv4 address', '198.51.100.7', '198.51.100.7', true],
    ['two IPv4 addresses', '198.51.100.7', '198.51.100.8', false],
    ['one IPv6 /64', '2001:db8:0:1::1', '2001:DB8::1:ffff:0:0:9', true],
    ['two IPv6 /64', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['an IPv4 address and its mapped form', '198.51.100.7', '::ffff:198.51.100.7', true],
    ['two mapped addresses', '::ffff:198.51.100.7', '::ffff:198.51.100.8', false],
    ['what cannot be parsed', 'unix:', '198.51.100', true],
  ]

  test.each(blocks)('counts per address: %s', async (_name, address, other, isShared) => {
    const send = failing()
    const outcomes = await times(30, () => send({ headers: wrong, address }))
    expect(new Set(outcomes.map(answer))).toEqual(new Set(['401/1401']))
    const expected = isShared ? '429/1453' : '401/1401'
    expect(answer(await send({ headers: wrong, address: other }))).toBe(expected)
  })

  test('without an address counts with the unparsable addresses', async () => {
    const send = failing()
    await times(30, () => send({ headers: wrong, address: undefined }))
    expect(answer(await send({ headers: wrong, address: 'x' }))).toBe('429/1453')
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

  test('of a suspended bank counts as well', async () => {
    const send = callerOf('list-debit-transactions', { status: 'suspended' })
    const outcomes = await times(31, () => send())
    expect(outcomes.map(answer)).toEqual([...Array(30).fill('403/1403'), '429/1453'])
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
  const bankOperations = operationNames.filter((name) => operations[name].caller === 'bank')

  test.each(bankOperations)(
    'of %s have one line with one metric for each 4xx reply',
    async (name) => {
      const send = callerOf(name)
      expect((await send()).statusCode).toBeLessThan(500)
      expect(metrics()).toEqual([{ BankRequestsRefused: 1 }])
      usedBefore = 5_000
      await send()
      await send()
      expect(metrics().slice(1)).toEqual([{ BankRequestsLimited: 1 }, { BankRequestsLimited: 1 }])
    },
  )

  test.each(bankOperations)(
    'of %s have one line for a failed credential, also above its limit',
    async (name) => {
      const send = callerOf(name)
      await send({ headers: {} })
      usedBefore = 5_000
      expect(answer(await send({ headers: {} }))).toBe('429/1453')
      const suspended = callerOf(name, { status: 'suspended' })
      usedBefore = 0
      windows.clear()
      expect(answer(await suspended())).toBe('403/1403')
      expect(metrics()).toEqual(Array(3).fill({ BankCredentialsRefused: 1 }))
    },
  )

  test('have no line for a success or a fault', async () => {
    const send = callerOf('list-debit-transactions')
    calls.on(GetCommand, { Key: { sk: 'ACCOUNT#GCB' } }, false).resolves({ Item: account })
    expect((await send()).statusCode).toBe(200)
    calls.on(UpdateCommand).rejects(Object.assign(new Error('down'), { name: 'TimeoutError' }))
    expect((await send()).statusCode).toBe(503)
    expect(metrics()).toEqual([])
  })

  test('have no line for the request of a provider', async () => {
    const send = callerOf('list-banks')
    await send({ headers: {} })
    usedBefore = 5_000
    await send()
    expect(metrics()).toEqual([])
  })
})
