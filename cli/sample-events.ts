import { UNMATCHED } from '../infra/definitions/functions.ts'
import { type OperationName, operationNames, operations } from '../shared/api/operations.ts'

/** Builds sample events of API Gateway for the API's functions, from the rows of operations.ts. */

type SampleRequest = {
  path?: Record<string, string>
  query?: Record<string, string>
  /** Text, so that an amount keeps its two decimals. */
  body?: string
}

const debit = { reference: 'DCS-20261121-ABC123' }
const transaction = { uuid: '3f0c9a52-7d1e-4c7b-9a53-1f2d3c4b5a69' }
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

const multiValued = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]))

/** Path parameters as sent: API Gateway does not decode them. The greedy one contains slashes. */
const rawParameters = (path: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(path).map(([name, value]) => [
      name,
      name === 'proxy' ? value : encodeURIComponent(value),
    ]),
  )

type EventInput = SampleRequest & {
  method: string
  resource: string
  headers: Record<string, string>
}

const eventOf = ({ method, resource, headers, path, query, body }: EventInput) => {
  const parameters = path ? rawParameters(path) : null
  const pathname = resource.replaceAll(
    /\{(\w+)\+?\}/g,
    (_, name: string) => parameters?.[name] ?? '',
  )
  return {
    resource,
    path: pathname,
    httpMethod: method,
    headers,
    multiValueHeaders: multiValued(headers),
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: query ? multiValued(query) : null,
    pathParameters: parameters,
    stageVariables: null,
    requestContext: {
      resourcePath: resource,
      httpMethod: method,
      path: pathname,
      stage: 'sandbox',
      requestId: '5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1',
      identity: { sourceIp: '127.0.0.1' },
    },
    body: body ?? null,
    isBase64Encoded: false,
  }
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
  resource: '/{proxy+}',
  headers: { Accept: 'application/json' },
  path: { proxy: 'api/v1/nothing-here' },
})

export const sampleFiles = (): Record<string, string> => {
  const events = [...operationNames.map((name) => [name, eventFor(name)]), [UNMATCHED, unmatched]]
  const textOf = (event: unknown) =>
    // Keeps lists of one element on one line.
    `${JSON.stringify(event, null, 2).replaceAll(/\[\n\s+(".*")\n\s+\]/g, '[$1]')}\n`
  return Object.fromEntries(events.map(([name, event]) => [name, textOf(event)]))
}
