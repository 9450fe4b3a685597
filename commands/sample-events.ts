import { UNMATCHED } from '../infra/definitions/functions.ts'
import { gatewayEvent } from '../sandbox/gateway-event.ts'
import { descriptions } from '../sdk/openapi/descriptions.ts'
import type { Description } from '../sdk/openapi/operations/described.ts'
import { type OperationName, operationNames, operations } from '../shared/api/operations.ts'

/** Builds sample events of API Gateway for the API's functions, from the rows of operations.ts. */

type SampleRequest = {
  path?: Record<string, string>
  query?: Record<string, string>
  /** Text, so that an amount keeps its two decimals. */
  body?: string
}

/** Amounts as numbers with two decimals, which callers may send like text. */
const bodyText = (body: object): string =>
  JSON.stringify(body, (_, value) =>
    typeof value === 'string' && /^[0-9]+\.[0-9]{2}$/.test(value) ? JSON.rawJSON(value) : value,
  )

type SampleSource = Description & { bodies?: Record<string, { value: object }> }

/** Returns the examples of the description, with its own query. */
const sampleOf = (name: OperationName): SampleRequest => {
  const { parameters = {}, bodies = {}, sample = {} }: SampleSource = descriptions[name]
  const path = Object.entries(parameters).filter(([parameter]) =>
    operations[name].path.includes(`{${parameter}}`),
  )
  const [body] = Object.values(bodies)
  return {
    path: Object.fromEntries(path.map(([parameter, { example }]) => [parameter, String(example)])),
    ...(sample.query && { query: sample.query }),
    ...(body && { body: bodyText({ ...body.value, ...sample.body }) }),
  }
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
  const sample = sampleOf(name)
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
