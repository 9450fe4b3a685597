import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { beforeEach, expect, test, vi } from 'vitest'
import { answerUnmatched } from '../../functions/gateway/answer-unmatched.ts'
import { actingAs } from '../../sandbox/authorizer.ts'
import { type OperationName, operationNames, operations } from '../../shared/api/operations.ts'
import { tokenOf } from '../../shared/domain/token.ts'
import {
  answer,
  callerOf,
  calls,
  counts,
  details,
  type Reply,
  standing,
  tableCalls,
  times,
  useCountedRequests,
} from '../support/counted-requests.ts'
import { gcb, still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'

/** Rate limits: published limits, overrides, scopes, metrics, and the cost above a limit. */

process.env.METRICS_DISABLED = 'false'
useCountedRequests()
const { clear, lines, metrics } = captureOutput()
beforeEach(clear)

/** Cheap point reads do not wait for their count. */
const parallel = operationNames.filter((name) => 'readsInParallel' in operations[name])
const waiting = operationNames.filter((name) => !parallel.includes(name))

test.each(waiting)('a request to %s above its limit is counted without a read', async (name) => {
  const send = callerOf(name)
  await send()
  calls.resetHistory()
  counts.usedBefore = 5_000
  expect(answer(await send())).toBe(`429/${operations[name].limit.code}`)
  // A bank report prefetches one item.
  expect(tableCalls()).toBe(operations[name].path.includes('{uuid}') ? 'Get Update' : 'Update')
})

test.each(parallel)('a request to %s above its limit writes only its counts', async (name) => {
  const send = callerOf(name)
  await send()
  calls.resetHistory()
  counts.usedBefore = 5_000
  expect(answer(await send())).toBe(`429/${operations[name].limit.code}`)
  const scopes = operations[name].limit.per === 'reference' ? 2 : 1
  expect(calls.commandCalls(UpdateCommand)).toHaveLength(scopes)
})

test('most charges under load need no count', async () => {
  const send = callerOf('charge')
  const replies = await times(80, send)
  expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([202]))
  const shown = replies.map((reply) => standing(reply)[1])
  expect(shown).toEqual(shown.toSorted((a, b) => Number(b) - Number(a)))
  expect(calls.commandCalls(UpdateCommand).length).toBeLessThan(40)
})

/** Published requests per minute (docs/api.md#rate-limits); others have 200 and 60. */
const published: Partial<Record<OperationName, readonly [number, number]>> = {
  charge: [1000, 100],
  'update-debit-transaction': [30, 10],
  'test-webhook': [10, 10],
}

test.each(operationNames.map((name) => [name, ...(published[name] ?? [200, 60])] as const))(
  'the operation %s allows %i a minute in production, %i in the sandbox',
  async (...row) => {
    const [name, ...allowed] = row
    for (const [index, stage] of ['production', 'sandbox'].entries()) {
      vi.stubEnv('LIMITS', stage)
      counts.windows.clear()
      const reply = await callerOf(name)()
      expect(standing(reply)).toEqual([allowed[index], Number(allowed[index]) - 1])
      expect(reply.headers['X-RateLimit-Reset']).toMatch(/^[0-9]{10}$/)
    }
  },
)

test.each([
  ['charge', 5_000],
  ['list-debit-requests', 7],
  ['update-debit-transaction', 600],
  ['list-debit-transactions', 1],
] as const)('an override of %s replaces the published limit with %i', async (name, perMinute) => {
  const send = callerOf(name, { requestLimits: { [name]: perMinute } })
  expect(standing(await send())).toEqual([perMinute, perMinute - 1])
  counts.usedBefore = perMinute
  const refused = await send()
  expect(answer(refused)).toBe(`429/${operations[name].limit.code}`)
  expect(details(refused)).toMatchObject({ limit: perMinute, period: 'minute' })
  expect(standing(refused)).toEqual([perMinute, 0])
})

test('an override of another operation has no effect, and none needs an additional read', async () => {
  const send = callerOf('charge', { requestLimits: { 'list-banks': 7 } })
  expect(standing(await send())).toEqual([100, 99])
  expect(tableCalls()).toMatch(/^Get Get Update/)
})

test.each([
  [120, 2_000],
  [1, 17],
])('an override of %i reads of a reference allows %i of all references', async (limit, ofAll) => {
  const send = callerOf('get-debit-request', { requestLimits: { 'get-debit-request': limit } })
  expect(standing(await send())).toEqual([limit, limit - 1])
  vi.setSystemTime(Date.now() + 60_000)
  const all = `WINDOW#get-debit-request#demo#${Math.floor(Date.now() / 60_000) * 60}`
  counts.windows.set(all, ofAll - 1)
  expect((await send()).statusCode).toBe(404)
  const refused = await send()
  expect([answer(refused), ...standing(refused)]).toEqual(['429/1454', ofAll, 0])
})

const bankOperations = operationNames.filter((name) => operations[name].caller === 'bank')

test.each(bankOperations)('each token of a bank has the full limit of %s', async (name) => {
  const first = callerOf(name)
  const [limit, remaining] = standing(await first())
  expect(standing(await callerOf(name)())).toEqual([limit, remaining])
  expect(standing(await first())).toEqual([limit, Number(remaining) - 1])
})

test('the scope is the provider for all its credentials', async () => {
  await callerOf('charge')()
  expect(standing(await callerOf('charge')())).toEqual([100, 98])
})

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
])('a request to %s gets %s up to the general limit of %s, then 429/1453', async (...row) => {
  const [path, code, stage, limit] = row
  vi.stubEnv('LIMITS', stage)
  await send('/api/v2/other')
  const outcomes = await times(limit, () => send(path))
  expect(outcomes.map(answer)).toEqual([...Array(limit - 1).fill(code), '429/1453'])
  expect(standing(outcomes[0] as Reply)).toEqual([limit, limit - 2])
  const over = outcomes.at(-1) as Reply
  expect(details(over)).toEqual({ limit, period: 'minute', retry_after: expect.any(Number) })
  expect(over.headers['Retry-After']).toBe(String(details(over).retry_after))
  expect(answer(await send(path, '198.51.100.8'))).toBe(code)
})

test('a request gets 404 or 405 when the table cannot count it', async () => {
  vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'ERROR')
  calls.on(UpdateCommand).rejects(Object.assign(new Error('down'), { name: 'TimeoutError' }))
  const reply = await send('/api/v1/unknown')
  expect(answer(reply)).toBe('404/1404')
  expect(standing(reply)).toEqual([30, 30])
  expect(answer(await send(operations.charge.path))).toBe('405/1405')
  const fault = { level: 'ERROR', message: 'fault', operation: 'answer-unmatched' }
  expect(lines()).toMatchObject([fault, fault])
})

test.each(bankOperations)('the metrics of %s have a line with a metric per 4xx', async (name) => {
  const send = callerOf(name)
  expect((await send()).statusCode).toBeLessThan(500)
  counts.usedBefore = 5_000
  await send()
  expect(metrics()).toEqual([{ BankRequestsRefused: 1 }, { BankRequestsLimited: 1 }])
  counts.usedBefore = 0
  clear()
  // Anybody can send a request without a token.
  expect(answer(await send({ headers: {} }))).toBe('401/1401')
  expect(metrics()).toEqual([])
  const refused = { BankCredentialsRefused: 1 }
  const suspended = callerOf(name, { status: 'suspended' })
  const replies = await times(31, () => suspended())
  expect(replies.map(answer)).toEqual([...Array(30).fill('403/1403'), '429/1453'])
  expect(metrics()).toEqual(Array(31).fill(refused))
})

test('the metrics of production count no token that no bank can have', async () => {
  vi.stubEnv('LIMITS', 'production')
  const send = callerOf('debit-callback', { status: 'suspended' })
  const refused = async (token: string) =>
    answer(await send({ headers: { Authorization: `Bearer ${token}` } }))
  expect(await refused('guessed')).toBe('403/1403')
  expect(await refused(`bt_live_${'x'.repeat(39)}`)).toBe('401/1401')
  expect(metrics()).toEqual([])
  expect(await refused(tokenOf('bank', 'production', new Uint8Array(24)))).toBe('403/1403')
  const counted = lines().flatMap(({ BankCredentialsRefused: count }) => count ?? [])
  expect(counted).toEqual([1])
})

test('the metrics count a refused charge of a known caller, and no anonymous one', async () => {
  const charge = callerOf('charge', { status: 'suspended' })
  await charge({ headers: {} })
  expect(metrics()).toEqual([])
  expect(answer(await charge())).toBe('403/1403')
  expect(metrics()).toEqual([{ ChargesRefused: 1 }])
  counts.usedBefore = 5_000
  expect((await charge()).statusCode).toBe(429)
  expect(metrics()).toHaveLength(1)
})

test('the metrics tell a charge whose bank is unavailable from a fault', async () => {
  const Items = [{ ...gcb, connector: 'none', pk: 'BANKS', sk: 'GCB' }]
  const charge = callerOf('charge')
  calls.on(QueryCommand).resolves({ Items })
  expect(answer(await charge())).toBe('503/2003')
  expect(metrics()).toEqual([{ ChargesRefused: 1, BankUnavailable: 1 }])
})

test('the metrics have no line for a success, a fault or a provider', async () => {
  const provider = callerOf('list-banks')
  await provider({ headers: {} })
  counts.usedBefore = 5_000
  await provider()
  counts.usedBefore = 0
  const send = callerOf('list-debit-transactions')
  const account = { customerName: 'Ama', accountNumber: '1041001001', accountType: 'savings' }
  const Item = { ...account, status: 'active' }
  calls.on(GetCommand, { Key: { sk: 'ACCOUNT#GCB' } }, false).resolves({ Item })
  expect((await send()).statusCode).toBe(200)
  calls.on(UpdateCommand).rejects(Object.assign(new Error('down'), { name: 'TimeoutError' }))
  expect((await send()).statusCode).toBe(503)
  expect(metrics()).toEqual([])
})
