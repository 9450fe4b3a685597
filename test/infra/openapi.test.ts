import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openApi, openApiText } from '../../infra/openapi/document.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { errors } from '../../shared/domain/refusal.ts'
import { rowsOf } from '../support/rows.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into, member by member
const document = openApi() as any

const responsesOf = (name: keyof typeof operations) => {
  const { path, method } = operations[name]
  return document.paths[path][method.toLowerCase()].responses
}

test('docs/openapi.json is what the rows and schemas say now (npm run openapi)', () => {
  expect(readFileSync('docs/openapi.json', 'utf8')).toBe(openApiText())
})

describe('the description is whole', () => {
  test.each(operationNames)('%s: its success, its limit and who may call it', (name) => {
    const { path, method, status, limit, caller } = operations[name]
    const described = document.paths[path][method.toLowerCase()]
    expect(described.operationId).toBe(name)
    expect(Object.keys(described.responses)).toContain(String(status))
    expect(described['x-rate-limit']).toEqual(limit)
    expect(described.security).toEqual([{ [caller]: [] }])
  })

  test('every event is a webhook, and so is the ping that tries one out', () => {
    const published = Object.values(eventTypes).map(({ event }) => event)
    expect(Object.keys(document.webhooks)).toEqual([...published, 'ping'])
  })

  test('no name of an example is spelled letter by letter', () => {
    const names = Object.keys(document.components.examples)
    expect(names.filter((name) => /(?:-[a-z]){3}(?:-|$)/.test(name))).toEqual([])
  })

  test('every example of a refusal is a row of the error table', () => {
    const bodies = Object.values(document.components.examples) as { value: { error: object } }[]
    const known = Object.entries(errors).map(([code, row]) => `${code} ${row.severity}`)
    for (const { value } of bodies) {
      const { code, severity } = value.error as { code: number; severity: string }
      expect(known).toContain(`${code} ${severity}`)
    }
  })
})

const refusals = rowsOf(`
  charge                    400  1400 3004 3005 3007
  charge                    402  1402
  charge                    403  1403 1451 1452
  charge                    409  3003
  charge                    422  1007
  charge                    429  1429 1453 1456
  charge                    503  1503 2003
  get-debit-request         404  3404
  get-bank                  404  1404
  update-debit-transaction  404  1404
  update-debit-transaction  422  1007 3001
  debit-callback            429  1429 1453 1455
  list-debit-transactions   422  1007
  list-banks                504  2408
  list-deliveries           404  3404
  list-deliveries           429  1429 1453 1454
  redeliver-event           403  1403 1451 1452 4403
  redeliver-event           404  1404 4404
  redeliver-event           409  1409
  list-events               422  1007
  list-events               429  1429 1453 1454
  test-webhook              404  4404
  test-webhook              429  1429 1453 1454
`)

test.each(refusals)('%s answers %s with %s', (name, status, codes) => {
  const { schema } = responsesOf(name as keyof typeof operations)[Number(status)].content[
    'application/json'
  ]
  expect(schema.properties.error.properties.code.enum.join(' ')).toBe(codes)
})

test('a charge is described as it is to be written', () => {
  expect(document.components.schemas.ChargeRequest.properties).toMatchObject({
    phone_number: { pattern: '^\\+233[1-9][0-9]{8}$' },
    amount: {
      type: ['string', 'number'],
      pattern: '^(0|[1-9][0-9]*)\\.[0-9]{2}$',
      maximum: 10_000,
    },
    currency: { const: 'GHS' },
    narration: { maxLength: 100 },
    partner_reference: { maxLength: 50 },
  })
})

test('a ping is described as it is sent: about no transaction, and in no sequence', () => {
  const { parameters, requestBody } = document.webhooks.ping.post
  const required = parameters.filter((one: { required: boolean }) => one.required)
  expect(required.map((one: { name: string }) => one.name)).toContain('X-SVC-Signature')
  const { schema, example } = requestBody.content['application/json']
  expect(schema).toEqual({ $ref: '#/components/schemas/Ping' })
  expect(Object.keys(example)).toEqual(['event', 'event_id', 'timestamp', 'api_version', 'data'])
  expect(example).toMatchObject({ event: 'ping', data: {} })
})

test('the feed is described with its cursor, and no page number', () => {
  const { parameters } = document.paths[operations['list-events'].path].get
  const inQuery = parameters.filter((one: { in: string }) => one.in === 'query')
  expect(inQuery.map((one: { name: string }) => one.name)).toEqual(['cursor', 'after', 'per_page'])
})
