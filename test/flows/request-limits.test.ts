import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, test } from 'vitest'
import { actingAs, judgeCallsOf } from '../../infra/sandbox/authorizer.ts'
import { type OperationName, operationNames, operations } from '../../shared/api/operations.ts'
import { table } from '../../shared/store/table.ts'
import { demoPartner, gcb } from '../support/examples.ts'
import { sampleEvent } from '../support/running-service.ts'

/** Limits of requests: overrides, scopes, and the cost of a request above its limit. */

const calls = mockClient(table)
judgeCallsOf(table)

const context = { getRemainingTimeInMillis: () => 28_000 } as unknown as Context

/** The requests counted in each window, by its key, and those counted before in a new one. */
const windows = new Map<string, number>()
let usedBefore = 0

beforeEach(() => {
  windows.clear()
  usedBefore = 0
  calls.reset()
  calls.on(GetCommand).resolves({})
  calls.on(QueryCommand).resolves({ Items: [] })
  calls.on(UpdateCommand).callsFake(({ Key }) => {
    const requests = Math.max(windows.get(Key.pk) ?? 0, usedBefore) + 1
    windows.set(Key.pk, requests)
    return { Attributes: { requests } }
  })
})

let tokens = 0

type Settings = { requestLimits?: Record<string, number> }

/** Returns a function that sends the sample of an operation with a new token of its caller. */
const callerOf = (name: OperationName, settings: Settings = {}) => {
  const { caller } = operations[name]
  calls
    .on(GetCommand, { Key: { pk: 'PARTNER#demo', sk: 'PARTNER' } })
    .resolves({ Item: { ...demoPartner, ...settings } })
  calls
    .on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } })
    .resolves({ Item: { ...gcb, ...settings } })
  calls
    .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
    .resolves({ Item: { kind: caller, owner: caller === 'bank' ? 'GCB' : 'demo', createdAt: '' } })
  tokens += 1
  const authorization = { Authorization: `Bearer token-${tokens}` }
  return async () => {
    const { handler } = (await import(`../../functions/${caller}/${name}.ts`)) as {
      handler: (event: APIGatewayProxyEvent, context: Context) => Promise<Reply>
    }
    const sample = (await sampleEvent(name)) as unknown as APIGatewayProxyEvent
    const event = { ...sample, headers: authorization, multiValueHeaders: {} }
    return actingAs(name, () => handler(event, context))
  }
}

type Reply = { statusCode: number; headers: Record<string, string>; body: string }

const answer = ({ statusCode, body }: Reply) => `${statusCode}/${JSON.parse(body).error?.code}`

const callNames = () => calls.calls().map(({ args }) => args[0].constructor.name)

describe('a request above its limit', () => {
  const waiting = operationNames.filter((name) => !('readsInParallel' in operations[name]))

  test('waits for its count unless its row says that it is a cheap point read', () => {
    const parallel = operationNames.filter((name) => !waiting.includes(name))
    expect(parallel).toEqual([
      'get-debit-request',
      'list-banks',
      'get-bank',
      'lookup-customer-banks',
      'get-settlement',
    ])
  })

  test.each(waiting)('%s: the count alone, and no read of its own', async (name) => {
    const send = callerOf(name)
    await send()
    calls.resetHistory()
    usedBefore = 5_000
    expect(answer(await send())).toBe(`429/${operations[name].limit.code}`)
    // A bank report prefetches one item.
    const prefetched = operations[name].path.includes('{uuid}') ? ['GetCommand'] : []
    expect(callNames()).toEqual([...prefetched, 'UpdateCommand'])
  })
})

/** What the rate headers say. */
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

  test.each(rows)('of %s replaces the published limit: %i', async (name, perMinute) => {
    const send = callerOf(name, { requestLimits: { [name]: perMinute } })
    expect(standing(await send())).toEqual([perMinute, perMinute - 1])
    usedBefore = perMinute
    const refused = await send()
    expect(answer(refused)).toBe(`429/${operations[name].limit.code}`)
    expect(JSON.parse(refused.body).details).toMatchObject({ limit: perMinute, period: 'minute' })
    expect(standing(refused)).toEqual([perMinute, 0])
  })

  test('of another operation changes nothing', async () => {
    const send = callerOf('charge', { requestLimits: { 'list-banks': 7 } })
    expect(standing(await send())).toEqual([100, 99])
  })

  test('costs no read beyond those of the credential', async () => {
    const send = callerOf('charge', { requestLimits: { charge: 5_000 } })
    await send()
    expect(callNames().slice(0, 3)).toEqual(['GetCommand', 'GetCommand', 'UpdateCommand'])
  })

  test.each([
    [60, 60, 1_000],
    [120, 120, 2_000],
    [30, 30, 500],
    [1, 1, 17],
  ])('of the status read, %i, is %i per reference and %i for all references', async (...row) => {
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

describe('the scope', () => {
  const bankOperations = operationNames.filter((name) => operations[name].caller === 'bank')

  test.each(bankOperations)(
    'of %s is one token of the bank, with the whole limit',
    async (name) => {
      const first = callerOf(name)
      const [limit, remaining] = standing(await first())
      const second = callerOf(name)
      expect(standing(await second())).toEqual([limit, remaining])
      expect(standing(await first())).toEqual([limit, Number(remaining) - 1])
    },
  )

  test('of a provider is the provider, whatever its credential', async () => {
    await callerOf('charge')()
    expect(standing(await callerOf('charge')())).toEqual([100, 98])
  })
})
