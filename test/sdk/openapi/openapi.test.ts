import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { bankProtocol } from '../../../sdk/openapi/bank-protocol.ts'
import { descriptionFiles, openApi } from '../../../sdk/openapi/document.ts'
import { schemaFieldDescriptions } from '../../../sdk/openapi/field-descriptions.ts'
import { operations } from '../../../shared/api/operations.ts'
import { BankUpdate } from '../../../shared/domain/debits/bank-update.ts'
import { ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import { errors } from '../../../shared/domain/refusal.ts'
import { chargeBody } from '../../support/requests.ts'
import { rowsOf } from '../../support/rows.ts'

// biome-ignore lint/suspicious/noExplicitAny: the documents have no types
const [document, protocol] = [openApi(), bankProtocol()] as any[]

const operationOf = (name: string) => {
  const { path, method } = operations[name as keyof typeof operations]
  return document.paths[path][method.toLowerCase()]
}

test.each(Object.entries(descriptionFiles()))(
  'the file %s is up to date (npm run openapi)',
  (file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text)
  },
)

test.each(Object.entries(schemaFieldDescriptions))(
  'the schema %s has its own descriptions, in every form',
  (name, descriptions) => {
    const schemas = { ...document.components.schemas, ...protocol.components.schemas }
    const forms = [name, `Event${name}`, `${name}WithAttempts`].filter((form) => form in schemas)
    expect(forms).toContain(name)
    for (const form of forms) {
      for (const [field, description] of Object.entries(descriptions)) {
        expect(schemas[form].properties[field]).toMatchObject({ description })
      }
    }
  },
)

test('the reason of a reversal request is described as text of the provider', () => {
  const { reason } = document.components.schemas.RequestReversalFields.properties
  expect(reason).toMatchObject({ type: 'string', description: 'Reason of the request' })
})

type DescribedOperation = {
  operationId: string
  parameters?: {
    $ref?: string
    name: string
    in: string
    description?: string
    example?: unknown
  }[]
  requestBody?: { content: Record<string, { examples?: Record<string, { summary?: string }> }> }
}

const described: [string, DescribedOperation][] = [document, protocol].flatMap(({ paths }) =>
  Object.values(paths as Record<string, Record<string, DescribedOperation>>).flatMap((methods) =>
    Object.values(methods).map((one): [string, DescribedOperation] => [one.operationId, one]),
  ),
)

test.each(described)('the operation %s has examples of parameters and bodies', (_, operation) => {
  const { parameters = [], requestBody } = operation
  const own = parameters.map(({ $ref = '', ...parameter }) =>
    $ref ? document.components.parameters[$ref.split('/').at(-1) ?? ''] : parameter,
  )
  expect(own.filter(({ example }) => example === undefined)).toEqual([])
  for (const { examples = {} } of Object.values(requestBody?.content ?? {})) {
    const summaries = Object.values(examples).map(({ summary = '' }) => summary)
    expect(summaries.length).toBeGreaterThan(0)
    expect(summaries).not.toContain('')
  }
})

test('the description of a parameter names no query parameter that its operation lacks', () => {
  const namesOf = ({ parameters = [] }: DescribedOperation) =>
    parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const known = new Set(described.flatMap(([, operation]) => namesOf(operation)))
  const foreign = described.flatMap(([id, operation]) =>
    (operation.parameters ?? [])
      .flatMap(({ description = '' }) => description.match(/(?<=`)\w+(?=`)/g) ?? [])
      .filter((name) => known.has(name) && !namesOf(operation).includes(name))
      .map((name) => `${id}: ${name}`),
  )
  expect(foreign).toEqual([])
})

test('the examples of errors have a name and a row of the error table', () => {
  const examples = Object.entries(document.components.examples as Record<string, TestedExample>)
  expect(examples.filter(([name]) => /(?:-[a-z]){3}(?:-|$)/.test(name))).toEqual([])
  const rows = Object.entries(errors).map(([code, { severity }]) => `${code} ${severity}`)
  const shown = examples.map(([, { value }]) => `${value.error.code} ${value.error.severity}`)
  expect(shown.filter((row) => !rows.includes(row))).toEqual([])
})

test('every schema that clients use has a name', () => {
  const names = Object.keys(document.components.schemas)
  const expected =
    'Debit DebitStatus DebitDetail Charge ChargeFields Customer Bank Delivery Attempt Event Refund ' +
    'Settlement SettlementLine SettlementReport Problem TransactionCompletedEvent PingEvent'
  expect(names).toEqual(expect.arrayContaining(expected.split(' ')))
  expect(names.filter((name) => !JSON.stringify(document).includes(`schemas/${name}"`))).toEqual([])
})

test('the name of an event in the feed selects one schema, which accepts that event alone', () => {
  const { oneOf, discriminator } = document.components.schemas.Event
  const names = oneOf.map(({ $ref }: { $ref: string }) => $ref)
  expect([...new Set(Object.values(discriminator.mapping))]).toEqual(names)
  for (const [event, ref] of Object.entries(discriminator.mapping)) {
    const { properties } = document.components.schemas[String(ref).split('/').at(-1) as string]
    expect(properties.event.enum ?? [properties.event.const]).toContain(event)
  }
})

test('each operation id is in camel case, and null is a type of all but objects', () => {
  const text = JSON.stringify(document)
  const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id = '']) => id)
  expect(ids.filter((id) => !/^[a-z][a-zA-Z]+$/.test(id))).toEqual([])
  expect(
    text.match(/"anyOf":\[\{"type":"(?!object)[a-z]+"[^{}\]]*\},\{"type":"null"\}\]/g),
  ).toBeNull()
})

type TestedExample = { value: { error: { code: number; severity: string } } }

const refusals = rowsOf(`
  charge                    400: 1400 3004 3005 3007  402: 1402  403: 1403 1451 1452  409: 3003
  charge                    422: 1007  429: 1429 1453 1456  503: 1503 2003
  get-debit-request         404: 3404
  get-bank                  404: 1404
  update-debit-transaction  404: 1404  422: 1007 3001
  debit-callback            429: 1429 1453 1455
  list-debit-transactions   422: 1007
  list-banks                504: 2408
  list-deliveries           404: 3404  429: 1429 1453 1454
  redeliver-event           403: 1403 1451 1452 4403  404: 1404 4404  409: 1409
  list-events               422: 1007  429: 1429 1453 1454
  test-webhook              404: 4404  429: 1429 1453 1454
`).flatMap(([name = '', ...cells]) => cells.map((cell) => [name, ...cell.split(': ')]))

// Without them, generated clients overflow, and generated servers accept any value.
test('each integer id has the format int64, and each constant its type', () => {
  const text = JSON.stringify([document, protocol])
  expect(text.match(/"id":{"type":"integer"[^}]*}/g)).toHaveLength(4)
  expect(text.match(/"id":{"type":"integer",(?!"format":"int64")/g)).toBeNull()
  expect(text.match(/(?<!"if":{"properties":{"status":){"const":/g)).toBeNull()
})

test.each(refusals)(
  'the operation %s lists for status %s the codes %s',
  (name = '', status = '', codes) => {
    expect(operationOf(name).responses[status]['x-error-codes'].join(' ')).toBe(codes)
  },
)

const ajv = new Ajv2020({ strict: false, validateSchema: false })
const { schemas } = document.components
const charge = chargeBody()

/** Compares the JSON schema of a body with the service's own. */
const expectSame = (
  input: object,
  [schema, name]: [v.GenericSchema, string] = [ChargeRequest, 'ChargeFields'],
) => {
  const isValid = ajv.validate(schemas[name], input)
  expect(isValid, JSON.stringify(input)).toBe(v.safeParse(schema, input).success)
}

test('the schema of a charge accepts the same amounts as the service', () => {
  const texts = ['1.00', '0.99', '0.00', '9999.99', '10000.00', '10000.01', '99999.00', '01.00']
  for (const amount of [...texts, '-1.00', '1.0', '1', '1.000', ' 1.00', '1.00\n', '1e2', '']) {
    expectSame({ ...charge, amount })
  }
  const amounts = fc.nat(1_100_000).map((count) => (count / 100).toFixed(2))
  fc.assert(fc.property(amounts, (amount) => expectSame({ ...charge, amount })))
})

test('the schema of a charge accepts the same texts as the service', () => {
  const part = fc.constantFrom(
    ...['a', ' ', '\t', '\n', '\r', '\u0000', '\u007f', '\u0085', '\u00a0', '\u200e', '\u202e'],
    ...['\u2028', '\u2066', '\u3000', '\ufeff', 'é', '😀', '@', '.', '0'],
  )
  // An unknown bank has its own error, after validation.
  const fields = Object.keys(ChargeRequest.entries).filter((name) => name !== 'bank_identifier')
  const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (value) => {
      for (const field of fields) expectSame({ ...charge, [field]: value })
    }),
    { numRuns: 500 },
  )
  for (const length of [50, 51, 100, 101]) {
    expectSame({ ...charge, narration: 'a'.repeat(length) })
    expectSame({ ...charge, partner_reference: 'a'.repeat(length) })
  }
  for (const [field, value] of Object.entries({ phone_number: '+233041234567', currency: 'NGN' })) {
    expectSame({ ...charge, [field]: value })
  }
})

test('the schema of a report accepts the same messages as the service', () => {
  const invisible = ['\u0000', '\u0085\n', '\u202e', '\u200b\ufeff', ' \u2800']
  const texts = ['Declined', '\u0000a', '😀', '', ' ', ...invisible]
  for (const error_message of [...texts, null, undefined]) {
    for (const status of ['failed', 'completed']) {
      const report = { status, bank_reference: 'B-1', error_message }
      expectSame(report, [BankUpdate, 'UpdateDebitTransactionFields'])
    }
  }
})

test('the schema of a cursor accepts its example and no other text', () => {
  const { parameters } = operationOf('list-debit-requests')
  const { schema, example } = parameters.find(({ name }: { name: string }) => name === 'cursor')
  expect(ajv.validate(schema, example)).toBe(true)
  for (const cursor of ['', 'x', `${example}=`, '../etc/passwd', 'x'.repeat(200)]) {
    expect(ajv.validate(schema, cursor), cursor).toBe(false)
  }
})
