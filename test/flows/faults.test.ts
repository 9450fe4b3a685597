import {
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, test } from 'vitest'
import { updateDebitTransaction } from '../../functions/bank/update-debit-transaction.ts'
import { charge } from '../../functions/provider/charge.ts'
import { getDebitRequest } from '../../functions/provider/get-debit-request.ts'
import { listBanks } from '../../functions/provider/list-banks.ts'
import { actingAs, authorizeCallsOf } from '../../sandbox/authorizer.ts'
import { type OperationName, operationNames, operations } from '../../shared/api/operations.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { table } from '../../shared/store/table.ts'
import { demoProvider, gcb, pendingDebit, still } from '../support/examples.ts'
import { rowsOf } from '../support/rows.ts'
import { sampleEvent } from '../support/running-service.ts'

/** Faults behind a request, as its caller sees them. */

const calls = mockClient(table)
authorizeCallsOf(table)

const context = (milliseconds = 28_000) =>
  ({ getRemainingTimeInMillis: () => milliseconds }) as unknown as Context

beforeEach(() => {
  calls.reset()
  calls.on(GetCommand).resolves({})
  calls
    .on(GetCommand, { Key: { pk: 'PROVIDER#demo', sk: 'PROVIDER' } })
    .resolves({ Item: demoProvider })
  calls
    .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
    .resolves({ Item: { kind: 'provider', owner: 'demo', createdAt: '' } })
  calls.on(QueryCommand).resolves({ Items: [{ ...gcb, pk: 'BANKS', sk: 'GCB' }] })
  calls.on(UpdateCommand).resolves({ Attributes: { requests: 1 } })
  calls.on(TransactWriteCommand).resolves({})
})

const event = async (name: string) => (await sampleEvent(name)) as unknown as APIGatewayProxyEvent

const run = async (milliseconds?: number) => {
  const sample = await event('charge')
  const reply = await actingAs('charge', () => charge(still())(sample, context(milliseconds)))
  return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(reply.body) }
}

const named = (name: string, extra: object = {}) =>
  Object.assign(new Error('Requested table arn:aws:dynamodb:eu-west-1:1:table/x'), {
    name,
    ...extra,
  })

describe('charge', () => {
  test('needs two round trips after authentication', async () => {
    await run()
    calls.resetHistory()
    expect((await run()).status).toBe(202)
    expect(calls.calls().map(({ args }) => args[0].constructor.name)).toEqual([
      'UpdateCommand',
      'TransactWriteCommand',
    ])
  })

  test('replies 500/1500 in the envelope to a fault and leaks no detail', async () => {
    calls.on(TransactWriteCommand).rejects(named('ValidationException'))
    const { status, headers, body } = await run()
    expect(status).toBe(500)
    expect(body).toEqual({
      success: false,
      error: {
        code: 1500,
        message: 'Internal server error',
        category: 'general',
        severity: 'high',
      },
      meta: {
        timestamp: expect.any(String),
        request_id: headers?.['X-Request-ID'],
        api_version: 'v1',
      },
    })
  })

  test.each([
    named('ThrottlingException'),
    named('ProvisionedThroughputExceededException'),
    named('TimeoutError'),
    named('Error', { code: 'ECONNREFUSED' }),
    named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
  ])('replies 503/1503 when a dependency is unavailable (%s)', async (error) => {
    calls.on(TransactWriteCommand).rejects(error)
    const { status, headers, body } = await run()
    expect(`${status}/${body.error.code}`).toBe('503/1503')
    expect(headers).toMatchObject({ 'Retry-After': '5' })
  })

  test('replies 504/2408 before the function times out', async () => {
    calls.on(TransactWriteCommand).callsFake(() => new Promise(() => undefined))
    const { status, body } = await run(3_010)
    expect(`${status}/${body.error.code}`).toBe('504/2408')
  })

  test('draws another reference when one is taken', async () => {
    const taken = Object.assign(named('TransactionCanceledException'), {
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    })
    const { TransactionCanceledException } = await import('@aws-sdk/client-dynamodb')
    Object.setPrototypeOf(taken, TransactionCanceledException.prototype)
    calls.on(TransactWriteCommand).rejectsOnce(taken).resolves({})
    expect((await run()).status).toBe(202)
    const references = calls
      .commandCalls(TransactWriteCommand)
      .map(({ args }) => args[0].input.TransactItems?.[0]?.Put?.Item?.reference)
    expect(new Set(references).size).toBe(2)
  })
})

describe('get-debit-request', () => {
  test('reads the debit and counts for the reference and the caller in one step', async () => {
    const handler = getDebitRequest(still())
    const sample = await event('get-debit-request')
    await handler(sample, context())
    calls.resetHistory()
    const reply = await handler(sample, context())
    expect(reply.statusCode).toBe(404)
    expect(calls.calls().map(({ args }) => args[0].constructor.name)).toEqual([
      'UpdateCommand',
      'UpdateCommand',
      'GetCommand',
    ])
  })

  test('gets 429/1454 above 1000 a minute for all references of a provider', async () => {
    const sample = await event('get-debit-request')
    const ofAll = /^WINDOW#get-debit-request#demo#[0-9]+$/
    calls
      .on(UpdateCommand)
      .callsFake(({ Key }) => ({ Attributes: { requests: ofAll.test(Key.pk) ? 1001 : 1 } }))
    const reply = await getDebitRequest(still())(sample, context())
    expect([reply.statusCode, JSON.parse(reply.body).error.code]).toEqual([429, 1454])
    expect(reply.headers).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '0',
    })
  })

  test('fails when the count fails', async () => {
    calls.on(UpdateCommand).rejects(named('ThrottlingException'))
    const reply = await getDebitRequest(still())(await event('get-debit-request'), context())
    expect(reply.statusCode).toBe(503)
  })
})

describe('update-debit-transaction', () => {
  const debit = pendingDebit()
  const { metadata: _metadata, ...facts } = debit.facts
  const done = toDebitItem({ ...debit, status: 'completed' })

  test('takes two steps: the pointer is read in parallel with the count', async () => {
    calls
      .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
      .resolves({ Item: { kind: 'bank', owner: 'GCB', createdAt: '' } })
    calls.on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } }).resolves({ Item: gcb })
    calls.on(GetCommand, { Key: { sk: 'UUID' } }, false).resolves({ Item: facts })
    calls.on(UpdateCommand, { ReturnValues: 'ALL_NEW' }, false).resolves({ Attributes: done })
    const handler = updateDebitTransaction(still())
    const sample = await event('update-debit-transaction')
    await handler(sample, context())
    calls.resetHistory()
    const reply = await handler(await event('update-debit-transaction'), context())
    expect(reply.statusCode).toBe(200)
    expect(calls.calls().map(({ args }) => args[0].constructor.name)).toEqual([
      'GetCommand',
      'UpdateCommand',
      'UpdateCommand',
    ])
  })
})

test('cached banks are read from memory, and only the count goes to the table', async () => {
  const sample = await event('list-banks')
  await listBanks(still())(sample, context())
  calls.resetHistory()
  expect((await listBanks(still())(sample, context())).statusCode).toBe(200)
  expect(calls.calls().map(({ args }) => args[0].constructor.name)).toEqual(['UpdateCommand'])
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

describe('rate limit headers', () => {
  const rows = rowsOf(limits).slice(1)

  test('have a row here for every operation', () => {
    expect(rows.map(([name]) => name).sort()).toEqual([...operationNames].sort())
  })

  test.each(rows)('%s: production %s, sandbox %s', async (name = '', production, sandbox) => {
    const { room, ...expected } = {
      room: operations[name as OperationName].caller,
      production,
      sandbox,
    }
    const { handler } = (await import(`../../functions/${room}/${name}.ts`)) as { handler: Handler }
    for (const [stage, limit] of Object.entries(expected)) {
      process.env.STAGE = stage
      const sample = await event(name)
      // The credential is unknown: the rejection carries the limit of the address.
      const refused = await handler({ ...sample, headers: {}, multiValueHeaders: {} }, context())
      expect(refused.headers).toMatchObject({ 'X-RateLimit-Limit': '30' })
      calls
        .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
        .resolves({ Item: { kind: room, owner: room === 'bank' ? 'GCB' : 'demo', createdAt: '' } })
      calls.on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } }).resolves({ Item: gcb })
      const reply = await handler(sample, context())
      expect(reply.headers, stage).toMatchObject({
        'X-RateLimit-Limit': limit,
        'X-RateLimit-Remaining': String(Number(limit) - 1),
        'X-RateLimit-Reset': expect.stringMatching(/^[0-9]{10}$/),
      })
    }
    process.env.STAGE = 'sandbox'
  })
})

type Handler = ReturnType<typeof charge>
