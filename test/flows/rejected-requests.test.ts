import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test, vi } from 'vitest'
import { type OperationName, operations } from '../../shared/api/operations.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { real } from '../../shared/runtime.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { sealRequestSecret } from '../../shared/store/providers/request-secrets.ts'
import {
  answer,
  callerOf,
  calls,
  counts,
  credentialIs,
  details,
  newestToken,
  type Reply,
  reported,
  type Settings,
  standing,
  tableCalls,
  times,
  useCountedRequests,
} from '../support/counted-requests.ts'
import { sign } from '../support/requests.ts'

/** Rejected credentials and their limit (docs/api.md#authentication), and faults behind a request. */

useCountedRequests()

test.each(['Bearer', 'bearer', 'Token', 'tOKEN'])('the scheme %s is accepted', async (scheme) => {
  const reply = await callerOf('list-banks')({ headers: { authorization: `${scheme} token-any` } })
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
  ['Basic c2s6c2s=', scheme],
  ['sk_sandbox_demo', scheme],
  ['Bearers x', scheme],
  ['Bearer', malformed],
  ['Bearer ', malformed],
  ['Bearer  x', malformed],
  ['Bearer x, Bearer x', malformed],
  ['Bearer x\n', malformed],
  [`Bearer ${'x'.repeat(10_000)}`, malformed],
  ['Bearer unknown', unknown],
  [`Bearer sk_test_${'0'.repeat(39)}`, unknown],
]

test.each(rows)('the header %j gets 401/1401 and names the problem', async (value, problem) => {
  const send = callerOf('list-banks')
  credentialIs({})
  const reply = await send({ headers: value === undefined ? {} : { Authorization: value } })
  expect([answer(reply), details(reply)]).toEqual(['401/1401', problem])
  const error = { message: 'Unauthorized', details: problem }
  expect(JSON.parse(reply.body).error).toMatchObject(error)
})

test.each([
  { kind: 'provider', owner: 'demo', createdAt: '', revokedAt: '2026-01-01' },
  { kind: 'provider', owner: 'demo', createdAt: '', expiresOn: '2026-01-01' },
  { kind: 'bank', owner: 'GCB', createdAt: '' },
])('the credential %o gets the bytes of an unknown one', async (Item) => {
  const send = callerOf('list-banks')
  credentialIs({ Item })
  const reply = await send({ headers: { Authorization: 'Bearer known' } })
  expect([details(reply), reply.headers['X-RateLimit-Limit']]).toEqual([unknown, '30'])
  expect(JSON.parse(reply.body).error).toEqual({
    ...{ code: 1401, message: 'Unauthorized', category: 'authentication' },
    ...{ severity: 'high', details: unknown },
  })
})

const headers = { Authorization: 'Bearer unknown' }

// Which addresses share a scope: test/api/address.test.ts.
test.each([
  ['one address', '2001:db8:0:1::1', '2001:DB8::1:ffff:0:0:9', '429/1453'],
  ['another address', '198.51.100.7', '198.51.100.8', '401/1401'],
  ['no address and an unparsable one', undefined, 'unix:', '429/1453'],
])('a failed credential counts per address: %s', async (_name, address, other, expected) => {
  const send = callerOf('list-banks')
  credentialIs({})
  const replies = await times(30, () => send({ headers, address }))
  expect(new Set(replies.map(answer))).toEqual(new Set(['401/1401']))
  expect(answer(await send({ headers, address: other }))).toBe(expected)
  expect(answer(await callerOf('list-banks')({ address }))).toBe('200/undefined')
})

process.env.SEALING_KEY = 'a text for tests'
const secret = 'rs_of_twenty_letters'
const signed = {
  requestSigning: { secret: await sealRequestSecret('demo' as ProviderId, secret, real) },
}

const old = { 'X-Signature': 'x', 'X-Timestamp': '1000000000' }
const rejections: [string, Settings, Record<string, string>, string][] = [
  ['a missing signature', signed, {}, '401/1401'],
  ['an expired timestamp', signed, old, '401/1401'],
  ['a malformed timestamp', signed, { ...old, 'X-Timestamp': 'now' }, '400/1400'],
  ['an address outside the list', { allowedAddresses: ['203.0.113.0/24'] }, {}, '403/1451'],
  ['a suspended provider', { status: 'suspended' }, {}, '403/1403'],
]

test.each(rejections)(
  'a rejection of a known key counts per key and address: %s',
  async (_name, settings, more, code) => {
    const send = callerOf('list-banks', settings)
    const headers = { Authorization: `Bearer ${newestToken()}`, ...more }
    const outcomes = await times(31, () => send({ headers }))
    expect(outcomes.map(answer)).toEqual([...Array(30).fill(code), '429/1453'])
    expect(standing(outcomes[29] as Reply)).toEqual([30, 0])
    expect(details(outcomes[30] as Reply)).toMatchObject({ limit: 30, period: 'minute' })
    // No other address, key or window of the provider is affected.
    expect(answer(await send({ headers, address: '192.0.2.1' }))).toBe(code)
    expect(answer(await callerOf('list-banks', settings)({}))).not.toBe('429/1453')
    expect([...counts.windows.keys()].join()).not.toContain('WINDOW#list-banks')
  },
)

test('a rejection never affects valid requests with the same key from the same address', async () => {
  const send = callerOf('list-banks', signed)
  const { path } = operations['list-banks']
  const headers = { Authorization: `Bearer ${newestToken()}`, ...sign({ path, secret }) }
  await times(40, () => send({ headers: { ...headers, 'X-Signature': 'x' } }))
  const reply = await send({ headers })
  expect(answer(reply)).toBe('200/undefined')
  expect(standing(reply)).toEqual([60, 59])
})

const named = (name: string, extra: object = {}) =>
  Object.assign(new Error('Requested table arn:aws:dynamodb:eu-west-1:1:table/x'), {
    name,
    ...extra,
  })

test('a fault gets 500/1500 in the envelope and leaks no detail', async () => {
  const send = callerOf('charge')
  calls.on(TransactWriteCommand).rejects(named('ValidationException'))
  const { statusCode, headers, body } = await send()
  const message = 'Internal server error'
  const request_id = headers['X-Request-ID']
  expect([statusCode, JSON.parse(body)]).toEqual([
    500,
    {
      success: false,
      error: { code: 1500, message, category: 'general', severity: 'high' },
      meta: { timestamp: expect.any(String), request_id, api_version: 'v1' },
    },
  ])
})

test.each([
  ...[
    ...['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'],
    ...['TransactionConflictException', 'ServiceUnavailable', 'TimeoutError'],
  ].map((name) => named(name)),
  named('Error', { code: 'ECONNREFUSED' }),
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].map((code) =>
    named('Error', { code }),
  ),
  named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
])('a fault of an unavailable dependency gets 503/1503 (%s)', async (error) => {
  const send = callerOf('charge')
  calls.on(TransactWriteCommand).rejects(error)
  const reply = await send()
  expect([answer(reply), reply.headers['Retry-After']]).toEqual(['503/1503', '5'])
  const read = callerOf('get-debit-request')
  calls.on(UpdateCommand).rejects(error)
  expect(answer(await read())).toBe('503/1503')
})

test.each([
  ['gets 503', 0, '503/1503'],
  ['gets 429 above its limit', 5_000, '429/1455'],
])('a report whose debit cannot be read %s', async (_, usedBefore, code) => {
  counts.usedBefore = usedBefore
  const report = callerOf('debit-callback')
  const key = { Key: keys.debit(reported.facts.reference) }
  calls.on(GetCommand, key, false).rejects(named('ThrottlingException'))
  expect(answer(await report())).toBe(code)
})

test('a fault behind the signature of a request counts as no failed credential', async () => {
  const send = callerOf('list-banks', signed)
  vi.stubEnv('SEALING_KEY', ' ')
  const replies = await times(31, () => send())
  expect(new Set(replies.map(answer))).toEqual(new Set(['500/1500']))
  expect(counts.windows).toEqual(new Map())
})

test('a request gets 504/2408 before the function times out', async () => {
  const send = callerOf('charge')
  calls.on(TransactWriteCommand).callsFake(() => new Promise(() => undefined))
  expect(answer(await send({ milliseconds: 3_010 }))).toBe('504/2408')
})

test('a charge whose reference is taken uses another one', async () => {
  const send = callerOf('charge')
  const CancellationReasons = [{ Code: 'ConditionalCheckFailed' }]
  const taken = new TransactionCanceledException({
    message: '',
    $metadata: {},
    CancellationReasons,
  })
  calls.on(TransactWriteCommand).rejectsOnce(taken).resolves({})
  expect((await send()).statusCode).toBe(202)
  const references = calls
    .commandCalls(TransactWriteCommand)
    .map(({ args }) => args[0].input.TransactItems?.[0]?.Put?.Item?.reference)
  expect(new Set(references).size).toBe(2)
})

test.each<[OperationName, string, string]>([
  ['charge', '202/undefined', 'Update TransactWrite'],
  // Counts for the reference and the caller.
  ['get-debit-request', '404/3404', 'Update Update Get'],
  // The debit is read in parallel with the count.
  ['update-debit-transaction', '200/undefined', 'Get Update Update'],
  ['list-banks', '200/undefined', 'Update'],
])('a warm %s gets %s with the table calls %s', async (name, code, expected) => {
  const send = callerOf(name)
  const Item = toDebitItem(reported)
  calls.on(GetCommand, { Key: keys.debit(reported.facts.reference) }, false).resolves({ Item })
  const Attributes = toDebitItem({ ...reported, status: 'completed' })
  calls.on(UpdateCommand, { ReturnValues: 'ALL_NEW' }, false).resolves({ Attributes })
  // Its worker has no tokens of earlier tests.
  vi.setSystemTime(Date.now() + 120_000)
  await send()
  calls.resetHistory()
  expect([answer(await send()), tableCalls()]).toEqual([code, expected])
})
