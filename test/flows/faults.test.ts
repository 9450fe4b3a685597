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
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { table } from '../../shared/store/table.ts'
import { demoProvider, gcb, pendingDebit, still } from '../support/examples.ts'
import { sampleEvent } from '../support/running-service.ts'

/** Faults behind a request, as its caller sees them, and the calls of a warm function. */

const calls = mockClient(table)
authorizeCallsOf(table)

beforeEach(() => {
  calls.reset()
  calls.on(GetCommand).resolves({})
  const provider = { pk: 'PROVIDER#demo', sk: 'PROVIDER' }
  calls.on(GetCommand, { Key: provider }).resolves({ Item: demoProvider })
  calls
    .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
    .resolves({ Item: { kind: 'provider', owner: 'demo', createdAt: '' } })
  calls.on(QueryCommand).resolves({ Items: [{ ...gcb, pk: 'BANKS', sk: 'GCB' }] })
  calls.on(UpdateCommand).resolves({ Attributes: { requests: 1 } })
  calls.on(TransactWriteCommand).resolves({})
})

type Handler = ReturnType<typeof charge>
type Name = Parameters<typeof actingAs>[0]

const run = async (name: Name, handler: Handler, milliseconds = 28_000) => {
  const event = (await sampleEvent(name)) as unknown as APIGatewayProxyEvent
  const context = { getRemainingTimeInMillis: () => milliseconds } as unknown as Context
  const { statusCode, headers, body } = await actingAs(name, () => handler(event, context))
  const reply = JSON.parse(body)
  return { code: `${statusCode}/${reply.error?.code}`, headers, body: reply }
}
const runCharge = (milliseconds?: number) => run('charge', charge(still()), milliseconds)

const named = (name: string, extra: object = {}) =>
  Object.assign(new Error('Requested table arn:aws:dynamodb:eu-west-1:1:table/x'), {
    name,
    ...extra,
  })

describe('a fault', () => {
  test('gets 500/1500 in the envelope and leaks no detail', async () => {
    calls.on(TransactWriteCommand).rejects(named('ValidationException'))
    const { code, headers, body } = await runCharge()
    expect(code).toBe('500/1500')
    const message = 'Internal server error'
    const request_id = headers?.['X-Request-ID']
    expect(body).toEqual({
      success: false,
      error: { code: 1500, message, category: 'general', severity: 'high' },
      meta: { timestamp: expect.any(String), request_id, api_version: 'v1' },
    })
  })

  test.each([
    named('ThrottlingException'),
    named('ProvisionedThroughputExceededException'),
    named('TimeoutError'),
    named('Error', { code: 'ECONNREFUSED' }),
    named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
  ])('of an unavailable dependency gets 503/1503 (%s)', async (error) => {
    calls.on(TransactWriteCommand).rejects(error)
    const { code, headers } = await runCharge()
    expect([code, headers?.['Retry-After']]).toEqual(['503/1503', '5'])
    calls.on(UpdateCommand).rejects(error)
    const read = await run('get-debit-request', getDebitRequest(still()))
    expect(read.code).toBe('503/1503')
  })

  test('gets 504/2408 before the function times out', async () => {
    calls.on(TransactWriteCommand).callsFake(() => new Promise(() => undefined))
    expect((await runCharge(3_010)).code).toBe('504/2408')
  })

  test('of a taken reference draws another one', async () => {
    const taken = Object.assign(named('TransactionCanceledException'), {
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    })
    const { TransactionCanceledException } = await import('@aws-sdk/client-dynamodb')
    Object.setPrototypeOf(taken, TransactionCanceledException.prototype)
    calls.on(TransactWriteCommand).rejectsOnce(taken).resolves({})
    expect((await runCharge()).code).toBe('202/undefined')
    const references = calls
      .commandCalls(TransactWriteCommand)
      .map(({ args }) => args[0].input.TransactItems?.[0]?.Put?.Item?.reference)
    expect(new Set(references).size).toBe(2)
  })
})

const debit = pendingDebit()
const { metadata: _metadata, ...facts } = debit.facts

test.each([
  ['charge', charge(still()), '202/undefined', 'Update TransactWrite'],
  // Counts for the reference and the caller.
  ['get-debit-request', getDebitRequest(still()), '404/3404', 'Update Update Get'],
  // The pointer is read in parallel with the count.
  [
    'update-debit-transaction',
    updateDebitTransaction(still()),
    '200/undefined',
    'Get Update Update',
  ],
  ['list-banks', listBanks(still()), '200/undefined', 'Update'],
] as [Name, Handler, string, string][])('a warm %s calls the table %#', async (...row) => {
  const [name, handler, code, expected] = row
  if (name === 'update-debit-transaction') {
    calls
      .on(GetCommand, { Key: { sk: 'CREDENTIAL' } }, false)
      .resolves({ Item: { kind: 'bank', owner: 'GCB', createdAt: '' } })
    calls.on(GetCommand, { Key: { pk: 'BANKS', sk: 'GCB' } }).resolves({ Item: gcb })
    calls.on(GetCommand, { Key: { sk: 'UUID' } }, false).resolves({ Item: facts })
    const Attributes = toDebitItem({ ...debit, status: 'completed' })
    calls.on(UpdateCommand, { ReturnValues: 'ALL_NEW' }, false).resolves({ Attributes })
  }
  await run(name, handler)
  calls.resetHistory()
  expect((await run(name, handler)).code).toBe(code)
  const commands = calls.calls().map(({ args }) => args[0].constructor.name)
  expect(commands.map((command) => command.replace('Command', '')).join(' ')).toBe(expected)
})
