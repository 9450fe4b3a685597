import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { openApi, openApiText } from '../../openapi/document.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { BankUpdate } from '../../shared/domain/debits/bank-update.ts'
import { ChargeRequest } from '../../shared/domain/debits/charge.ts'
import { errors } from '../../shared/domain/refusal.ts'
import { eventTypes } from '../../shared/domain/webhooks/event-type.ts'
import { rowsOf } from '../support/rows.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document has no types
const document = openApi() as any

const responsesOf = (name: keyof typeof operations) => {
  const { path, method } = operations[name]
  return document.paths[path][method.toLowerCase()].responses
}

test('docs/openapi.json is up to date (npm run openapi)', () => {
  expect(readFileSync('docs/openapi.json', 'utf8')).toBe(openApiText())
})

describe('the document', () => {
  test.each(operationNames)('contains success, limit and caller of %s', (name) => {
    const { path, method, status, limit, caller } = operations[name]
    const operation = document.paths[path][method.toLowerCase()]
    expect(operation.operationId).toBe(name)
    expect(Object.keys(operation.responses)).toContain(String(status))
    expect(operation['x-rate-limit']).toEqual(limit)
    expect(operation.security).toEqual([{ [caller]: [] }])
  })

  test('contains a webhook for every event and for the ping', () => {
    const published = Object.values(eventTypes).map(({ event }) => event)
    expect(Object.keys(document.webhooks)).toEqual([...published, 'ping'])
  })

  test('has no example name in single letters', () => {
    const names = Object.keys(document.components.examples)
    expect(names.filter((name) => /(?:-[a-z]){3}(?:-|$)/.test(name))).toEqual([])
  })

  test('has only error examples from the error table', () => {
    const bodies = Object.values(document.components.examples) as { value: { error: object } }[]
    const rows = Object.entries(errors).map(([code, row]) => `${code} ${row.severity}`)
    for (const { value } of bodies) {
      const { code, severity } = value.error as { code: number; severity: string }
      expect(rows).toContain(`${code} ${severity}`)
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

test.each(refusals)('%s lists for status %s the codes %s', (name, status, codes) => {
  const { schema } = responsesOf(name as keyof typeof operations)[Number(status)].content[
    'application/json'
  ]
  expect(schema.properties.error.properties.code.enum.join(' ')).toBe(codes)
})

test('the schema of a charge contains its patterns and limits', () => {
  expect(document.components.schemas.ChargeRequest.properties).toMatchObject({
    phone_number: { pattern: '^\\+233[1-9][0-9]{8}$' },
    amount: {
      type: ['string', 'number'],
      pattern: '^(?:[1-9][0-9]{0,3}\\.[0-9]{2}|10000\\.00)$',
      maximum: 10_000,
    },
    bank_identifier: { pattern: '^[A-Z0-9]{3,5}$' },
    currency: { const: 'GHS' },
    narration: { maxLength: 100 },
    partner_reference: { maxLength: 50 },
  })
})

describe('the JSON schemas accept exactly what the service accepts', () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false })
  const { ChargeRequest: charge, UpdateDebitTransactionRequest: update } =
    document.components.schemas
  const body = {
    phone_number: '+233241234567',
    bank_identifier: 'GCB',
    amount: '100.00',
    currency: 'GHS',
    narration: 'Order 1',
    partner_reference: 'order-1',
  }
  const expectSame = (schema: v.GenericSchema, jsonSchema: object, input: object): void => {
    const isValid = ajv.validate(jsonSchema, input)
    expect(isValid, JSON.stringify(input)).toBe(v.safeParse(schema, input).success)
  }

  test('for amounts', () => {
    const texts = ['1.00', '0.99', '0.00', '9999.99', '10000.00', '10000.01', '99999.00', '01.00']
    for (const amount of [...texts, '-1.00', '1.0', '1', '1.000', ' 1.00', '1.00\n', '1e2', '']) {
      expectSame(ChargeRequest, charge, { ...body, amount })
    }
    const cents = fc.integer({ min: 0, max: 1_100_000 }).map((n) => (n / 100).toFixed(2))
    fc.assert(
      fc.property(cents, (amount) => expectSame(ChargeRequest, charge, { ...body, amount })),
    )
  })

  test('for narrations and partner references', () => {
    const part = fc.constantFrom(
      ...['a', ' ', '\t', '\n', '\r', '\u0000', '\u007f', '\u0085', '\u00a0', '\u200e', '\u202e'],
      ...['\u2028', '\u2066', '\u3000', '\ufeff', 'é', '😀'],
    )
    const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (narration, partner_reference) => {
        expectSame(ChargeRequest, charge, { ...body, narration })
        expectSame(ChargeRequest, charge, { ...body, partner_reference })
      }),
      { numRuns: 500 },
    )
  })

  test('for messages of failed reports', () => {
    const report = { status: 'failed', bank_reference: 'B-1' }
    for (const error_message of ['Declined', '', ' ', null, undefined]) {
      expectSame(BankUpdate, update, { ...report, error_message })
      expectSame(BankUpdate, update, { ...report, status: 'completed', error_message })
    }
  })

  test('for cursors', () => {
    const { parameters } = document.paths[operations['list-debit-requests'].path].get
    const { schema, example } = parameters.find(({ name }: { name: string }) => name === 'cursor')
    expect(ajv.validate(schema, example)).toBe(true)
    for (const cursor of ['', 'x', `${example}=`, '../etc/passwd', 'x'.repeat(200)]) {
      expect(ajv.validate(schema, cursor), cursor).toBe(false)
    }
  })
})

test('the ping has neither a transaction nor a sequence', () => {
  const { parameters, requestBody } = document.webhooks.ping.post
  const required = parameters.filter(({ required }: { required: boolean }) => required)
  expect(required.map(({ name }: { name: string }) => name)).toContain('X-SVC-Signature')
  const { schema, example } = requestBody.content['application/json']
  expect(schema).toEqual({ $ref: '#/components/schemas/Ping' })
  expect(Object.keys(example)).toEqual(['event', 'event_id', 'timestamp', 'api_version', 'data'])
  expect(example).toMatchObject({ event: 'ping', data: {} })
})

test('the event feed has a cursor and no page number', () => {
  const { parameters } = document.paths[operations['list-events'].path].get
  const inQuery = parameters.filter(({ in: place }: { in: string }) => place === 'query')
  expect(inQuery.map(({ name }: { name: string }) => name)).toEqual(['cursor', 'after', 'per_page'])
})
