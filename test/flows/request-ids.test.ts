import { expect, test } from 'vitest'
import { requestIdOf } from '../../shared/api/context.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { captureOutput } from '../support/output.ts'
import { NO_UUID, pathOf, SILENT, sampleEvent, updatePath } from '../support/requests.ts'
import { type Reply, useService } from '../support/running-service.ts'

/** Request ids, and the log lines that join them to debits (docs/api.md#envelope). */

// The default level of the logger, as in production.
process.env.AWS_LAMBDA_LOG_LEVEL = 'INFO'
const service = useService({ timeScale: 30 })
const { lines } = captureOutput()

const GATEWAY_ID = /^[\w-]{15}=$/
const idOf = ({ body }: Reply): string => body.meta.request_id

/** Returns the log line of a request. */
const lineOf = (reply: Reply) =>
  lines().find((line) => line.message === 'request' && line.request_id === idOf(reply))

test('each reply, log line and history has the id of API Gateway, never one of the caller', async () => {
  const names = ['X-Request-ID', 'X-Amzn-RequestId', 'X-Amz-Apigw-Id', 'X-Amzn-Trace-Id']
  const headers = Object.fromEntries(names.map((name) => [name, 'JHbGLHXXoAMF1Tw=']))
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  await service.until(reference, 'processing')
  const body = { status: 'failed', bank_reference: 'B-1', error_message: 'Declined' }
  const credential = 'bt_sandbox_gcb'
  const reply = await service.send('POST', updatePath(uuid), { credential, headers, body })
  expect(idOf(reply)).toMatch(GATEWAY_ID)
  expect(idOf(reply)).not.toBe(headers['X-Request-ID'])
  expect(reply.headers.get('x-request-id')).toBe(idOf(reply))
  const { history } = await service.show(reference)
  expect(history.at(-1)).toMatchObject({ by: 'bank:GCB', request_id: idOf(reply) })
  expect(lineOf(reply)).toMatchObject({ reference, uuid, status: 200 })
  const unmatched = await service.get('/nothing-here')
  expect(idOf(unmatched)).toMatch(GATEWAY_ID)
})

test.each([
  ['JHbGLHXXoAMF1Tw=', 'JHbGLHXXoAMF1Tw='],
  ['d3b0c442', 'd3b0c442'],
  [undefined, 'own'],
  ['', 'own'],
  ['a b c d e', 'own'],
  ['EXCEPTION#1', 'own'],
  ['x'.repeat(65), 'own'],
])('an event with the id %j has the request id %s', (extendedRequestId, expected) => {
  const event = { requestContext: { extendedRequestId } } as Parameters<typeof requestIdOf>[0]
  expect(requestIdOf(event, { newId: () => 'own' })).toBe(expected)
})

test('an event without an extended id, such as a sample, uses the `requestId` of its gateway', () => {
  const requestContext = { requestId: '3f0d0a52-6f1a-4f1e-9a5d-2f0c4a3b1d00' }
  const event = { requestContext } as Parameters<typeof requestIdOf>[0]
  expect(requestIdOf(event, { newId: () => 'new' })).toBe(requestContext.requestId)
})

test('a charge logs the reference of its debit, also for a replay and a conflict', async () => {
  const partner_reference = 'request-ids-1'
  const { reference } = await service.charge({ partner_reference })
  const send = (fields: object) => {
    const body = { ...{ phone_number: '+233241234567', bank_identifier: 'GCB' }, ...fields }
    const common = { amount: '100.00', currency: 'GHS', narration: 'Order 1', partner_reference }
    const options = { credential: 'sk_sandbox_demo', body: { ...common, ...body } }
    return service.send('POST', operations.charge.path, options)
  }
  const [replay, conflict] = [await send({}), await send({ amount: '101.00' })]
  expect([replay, conflict].map(({ status }) => status)).toEqual([202, 409])
  expect([replay, conflict].map((reply) => lineOf(reply)?.reference)).toEqual(
    Array(2).fill(reference),
  )
})

const REFERENCE = 'DCS-20261121-ABC123'
const deliveryId = '2137880302063503'

/** The ids in the log lines of paths with these segments. */
const logged = {
  'debit-requests/{reference}': { reference: REFERENCE },
  'debit-transactions/{uuid}': { uuid: NO_UUID },
  'deliveries/{id}': { reference: expect.stringMatching(/^DCS-2026/) },
  'settlements/{id}': { reference: 'STL-20261122-ABC123' },
  // They have no id of a debit or batch.
  'settlements/statements/{month}': {},
  'banks/{identifier}': {},
  'banks/lookup/{phone_number}': {},
}
const withPath = operationNames.filter((name) => operations[name].path.includes('{'))

test.each(withPath)('the operation %s logs a debit or batch that does not exist', async (name) => {
  const { method, caller } = operations[name]
  const credential = caller === 'bank' ? 'bt_sandbox_eco' : 'sk_sandbox_other'
  const own = { identifier: 'NONE', phone_number: '%2B233200000000', month: '2026-13' }
  const id = name === 'redeliver-event' ? { id: deliveryId } : {}
  const body = method === 'GET' ? {} : { body: {} }
  const path = pathOf(name, { ...own, ...id })
  const reply = await service.send(method, path, { credential, ...body })
  expect([404, 422]).toContain(reply.status)
  const { reference, uuid } = lineOf(reply)
  const ids = Object.entries(logged).find(([part]) => operations[name].path.includes(part))?.[1]
  expect({ reference, uuid }).toEqual({ reference: undefined, uuid: undefined, ...ids })
  expect(JSON.stringify(lineOf(reply))).not.toContain('2332000')
})

test.each([
  ['dcs-20261121-abc123', 'dcs-20261121-abc123'],
  ['+233241234567', undefined],
  ['DCS-20261121-ABC123-233241234567', undefined],
  ['%E0%A4%A', undefined],
])('a path with the reference %s logs %s', async (text, expected) => {
  const reply = await service.get(pathOf('get-debit-request', { reference: text }))
  expect(reply.status).toBe(404)
  expect(lineOf(reply)?.reference).toBe(expected)
})

test('an event with a rejected report stores an exception for each invocation', async () => {
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  await service.until(reference, 'processing')
  const sample = await sampleEvent('debit-callback')
  const requestContext = { ...(sample.requestContext as object), extendedRequestId: 'always-same=' }
  const pathParameters = { uuid }
  const event = { ...sample, pathParameters, requestContext, body: '{"status":"unknown"}' }
  await service.invoke('debit-callback', event)
  await service.call('exception', 'resolve', { reference, note: 'known' })
  await service.invoke('debit-callback', { ...event, body: '{"status":"other"}' })
  expect((await service.exceptions(reference)).map(({ note }) => note)).toEqual([null, 'known'])
})
