import { UNMATCHED } from '../infra/definitions/functions.ts'
import { gatewayEvent } from '../sandbox/gateway-event.ts'
import { type OperationName, operationNames, operations } from '../shared/api/operations.ts'
import { debitUuid, type Reference } from '../shared/domain/ids.ts'

/** Builds sample events of API Gateway for the API's functions, from the rows of operations.ts. */

type SampleRequest = {
  path?: Record<string, string>
  query?: Record<string, string>
  /** Text, so that an amount keeps its two decimals. */
  body?: string
}

const debit = { reference: 'DCS-20261121-ABC123' as Reference }
const transaction = { uuid: debitUuid(debit.reference) }
const batch = { id: 'STL-20261122-ABC123' }
const phone = { phone_number: '+233241234567' }

const samples: Record<OperationName, SampleRequest> = {
  charge: {
    body:
      '{"phone_number":"+233241234567","bank_identifier":"GCB","amount":100.00,' +
      '"currency":"GHS","narration":"Order 1001","partner_reference":"sample-order-1001",' +
      '"metadata":{"cart":"c-77"}}',
  },
  'get-debit-request': { path: debit },
  'list-debit-requests': { query: { status: 'completed', page: '1', per_page: '20' } },
  'list-banks': {},
  'get-bank': { path: { identifier: 'GCB' } },
  'lookup-customer-banks': { path: phone },
  'list-deliveries': { path: debit },
  'redeliver-event': { path: { id: '2137880302063503' } },
  'list-events': { query: { per_page: '50' } },
  'test-webhook': {},
  'list-settlements': {},
  'get-settlement': { path: batch },
  'get-settlement-report': { path: batch, query: { format: 'csv' } },
  'list-debit-transactions': { query: { ...phone, status: 'all' } },
  'update-debit-transaction': {
    path: transaction,
    body: '{"status":"completed","bank_reference":"GCB-0001","approval_method":"ussd","fee":1.50}',
  },
  'debit-callback': {
    path: transaction,
    body: '{"status":"approved","bank_reference":"GCB-0001","approval_method":"ussd"}',
  },
}

const credentials = { provider: 'sk_sandbox_demo', bank: 'bt_sandbox_gcb' }

/** Ids and times of an event that do not vary. */
const origin = {
  at: new Date('2026-11-22T10:15:30Z'),
  requestId: '5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1',
  extendedRequestId: 'JHbGLHXXoAMF1Tw=',
  traceId: 'Root=1-6a019352-0d0a52a4f6c15f2b7a0e6d0e',
}

type EventInput = SampleRequest & {
  method: string
  resource: string
  headers: Record<string, string>
}

/** Returns the event with its body as text, which is easier to edit than base64. */
const eventOf = ({ method, resource, headers, path = {}, query, body = '' }: EventInput) => {
  const encodeParameter = (name: string): string => encodeURIComponent(path[name] ?? '')
  const event = gatewayEvent(
    {
      method,
      pathname: resource.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeParameter(name)),
      search: new URLSearchParams(query).toString(),
      headers: Object.entries({ ...headers, Host: 'api.example.com' }),
      body: Buffer.from(body),
      sourceIp: '127.0.0.1',
    },
    origin,
  )
  return { ...event, body: body || null, isBase64Encoded: false }
}

const eventFor = (name: OperationName) => {
  const { method, path: resource, caller } = operations[name]
  const sample = samples[name]
  const headers = {
    Accept: 'application/json',
    Authorization: `Bearer ${credentials[caller]}`,
    ...(sample.body && { 'Content-Type': 'application/json' }),
  }
  return eventOf({ ...sample, method, resource, headers })
}

const unmatched = eventOf({
  method: 'GET',
  resource: '/api/v1/nothing-here',
  headers: { Accept: 'application/json' },
})

export const sampleFiles = (): Record<string, string> => {
  const events = [...operationNames.map((name) => [name, eventFor(name)]), [UNMATCHED, unmatched]]
  const textOf = (event: unknown) =>
    // Keeps lists of one element on one line.
    `${JSON.stringify(event, null, 2).replaceAll(/\[\n\s+(".*")\n\s+\]/g, '[$1]')}\n`
  return Object.fromEntries(events.map(([name, event]) => [name, textOf(event)]))
}
