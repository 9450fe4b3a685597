import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { breakingChanges, unnamedChanges } from '../../../sdk/openapi/breaking-changes.ts'
import { openApi } from '../../../sdk/openapi/document.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document has no types
type Description = any

type Plant = (next: Description, base: Description) => unknown

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
const READ = '/api/v1/payment-providers/debit-requests/{reference}'
const LIST = '/api/v1/payment-providers/debit-requests'
const EVENTS = '/api/v1/payment-providers/events'

const fieldsOf = (next: Description) => next.components.schemas.ChargeFields
const debitOf = (next: Description) => next.components.schemas.Debit
const codesOf = (next: Description): number[] =>
  next.paths[CHARGE].post.responses[400]['x-error-codes']

const without = <T>(list: T[], value: T): T[] => list.filter((one) => one !== value)

const DEBIT = 'schema Debit of a response: member'
const FIELDS = 'schema ChargeFields of a request: member'

const FAILED = 'webhook transaction.failed'
const headersOf = (next: Description): Description[] =>
  next.webhooks['transaction.failed'].post.parameters

/** Names a scheme of one operation, which a row changes. */
const secure = (document: Description, scheme: string): void => {
  document.components.securitySchemes.own = { type: 'http', scheme }
  document.paths[READ].get.security = [{ own: [] }]
}

const addParameter = (next: Description, required: boolean): void =>
  next.paths[LIST].get.parameters.push({ name: 'day', in: 'query', required, schema: {} })

/** Each change by the line that reports it. */
const BREAKING: Record<string, Plant> = {
  [`${READ} is removed`]: (next) => delete next.paths[READ],
  [`POST ${CHARGE} is removed`]: (next) => delete next.paths[CHARGE].post,
  [`POST ${CHARGE}: response 202 is removed`]: (next) =>
    delete next.paths[CHARGE].post.responses[202],
  [`${DEBIT} narration is removed`]: (next) => delete debitOf(next).properties.narration,
  [`${DEBIT} reference can be null`]: (next) =>
    (debitOf(next).properties.reference.type = ['string', 'null']),
  [`${DEBIT} customer can be null`]: (next) => {
    const { properties } = debitOf(next)
    properties.customer = { anyOf: [properties.customer, { type: 'null' }] }
  },
  [`${DEBIT} amount can be absent`]: (next) =>
    (debitOf(next).required = without(debitOf(next).required, 'amount')),
  [`${DEBIT} amount can be integer`]: (next) =>
    (debitOf(next).properties.amount = { type: 'integer' }),
  [`${FIELDS} purpose is required`]: (next) => {
    fieldsOf(next).properties.purpose = { type: 'string' }
    fieldsOf(next).required.push('purpose')
  },
  [`GET ${LIST}: query parameter day is required`]: (next) => addParameter(next, true),
  [`GET ${LIST}: query parameter per_page has maximum 50`]: (next) => {
    const isLimit = ({ name }: { name: string }) => name === 'per_page'
    next.paths[LIST].get.parameters.find(isLimit).schema.maximum = 50
  },
  [`${FIELDS} narration has maxLength 20`]: (next) =>
    (fieldsOf(next).properties.narration.maxLength = 20),
  [`${FIELDS} amount no longer accepts type number`]: (next) =>
    (fieldsOf(next).properties.amount.type = 'string'),
  'schema RequestReversalFields of a request: member kind no longer accepts "complaint"': (
    next,
  ) => {
    const { kind } = next.components.schemas.RequestReversalFields.properties
    kind.enum = without(kind.enum, 'complaint')
  },
  [`POST ${CHARGE}: request no longer accepts the form debit_request`]: (next) => {
    const content = next.paths[CHARGE].post.requestBody.content['application/json']
    content.schema = content.schema.oneOf[0]
  },
  [`POST ${CHARGE}: response 400 error code 3005 is removed`]: (next) =>
    codesOf(next).splice(codesOf(next).indexOf(3005), 1),
  [`GET ${READ}: security is changed`]: (next) => (next.paths[READ].get.security = [{ bank: [] }]),
  [`GET ${READ}: response 200 header x-request-id is removed`]: (next) =>
    delete next.paths[READ].get.responses[200].headers['X-Request-ID'],
  [`GET ${LIST}: query parameter status is removed`]: (next) =>
    next.paths[LIST].get.parameters.shift(),
  [`POST ${CHARGE}: request body is required`]: (_, base) =>
    (base.paths[CHARGE].post.requestBody.required = false),
  [`POST ${CHARGE}: request application/json is removed`]: (next) =>
    (next.paths[CHARGE].post.requestBody.content = {}),
  [`${FIELDS} narration accepts only ["A"]`]: (next) =>
    (fieldsOf(next).properties.narration.enum = ['A']),
  'schema ChargeFields of a request: no longer accepts other members': (next) =>
    (fieldsOf(next).additionalProperties = false),
  [`${DEBIT} created_at has no format date-time`]: (next) =>
    delete debitOf(next).properties.created_at.format,
  [`${FAILED} is removed`]: (next) => delete next.webhooks['transaction.failed'],
  [`${FAILED}: header x-svc-signature is removed`]: (next) => headersOf(next).splice(0, 1),
  [`${FAILED}: header x-svc-signature can be absent`]: (next) =>
    (headersOf(next)[0].required = false),
}

const COMPATIBLE: Record<string, Plant> = {
  'a path is added': (next) => (next.paths['/api/v1/new'] = next.paths[LIST]),
  'a response has a new member': (next) => {
    debitOf(next).properties.channel = { type: 'string' }
    debitOf(next).required.push('channel')
  },
  'a request has a new optional member': (next) =>
    (fieldsOf(next).properties.purpose = { type: 'string' }),
  'a request has a new optional parameter': (next) => addParameter(next, false),
  'a member of requests becomes optional': (next) =>
    (fieldsOf(next).required = without(fieldsOf(next).required, 'narration')),
  'a member of requests accepts longer texts': (next) =>
    (fieldsOf(next).properties.narration.maxLength = 500),
  'a member of responses is never null': (next) => (debitOf(next).properties.fee.type = 'string'),
  'a status has a new value': (next) => next.components.schemas.DebitStatus.enum.push('on_hold'),
  'a code of errors is added': (next) => codesOf(next).push(3009),
  'the feed has a new event': (next) => {
    const { Event, PingEvent } = next.components.schemas
    next.components.schemas.NoticeEvent = PingEvent
    Event.oneOf.push({ $ref: '#/components/schemas/NoticeEvent' })
  },
  'a component has another name': (next) => {
    const text = JSON.stringify(next.paths[EVENTS]).replaceAll('schemas/Event"', 'schemas/Fact"')
    next.paths[EVENTS] = JSON.parse(text)
    next.components.schemas.Fact = next.components.schemas.Event
  },
  'a text is changed': (next) => (next.paths[CHARGE].post.description = 'Charges'),
}

const planted = (plant: Plant): string[] => {
  const [base, next] = [openApi(), openApi()].map((one) => JSON.parse(JSON.stringify(one)))
  plant(next, base)
  return breakingChanges(base, next)
}

test.each(Object.entries(BREAKING))('a comparison reports `%s`', (line, plant) => {
  expect(planted(plant)).toEqual([line])
})

test('a comparison reports another scheme of the same name', () => {
  const plant: Plant = (next, base) => {
    secure(base, 'bearer')
    secure(next, 'basic')
  }
  expect(planted(plant)).toEqual([`GET ${READ}: security is changed`])
})

test.each(Object.entries(COMPATIBLE))('a comparison accepts that %s', (_, plant) => {
  expect(planted(plant)).toEqual([])
})

test('an entry of the change log allows the change that it names, and no other', () => {
  const change = `GET ${LIST}: query parameter per_page has maximum 5`
  const entry = (text: string): string => `## [Unreleased]\n\n- BREAKING: ${text}\n- Other\n`
  const remaining = (text: string): string[] => unnamedChanges([change], entry(text))
  expect(remaining(change)).toEqual([])
  expect(remaining(`\`${change.replace(' has', '\n  has')}\`. Read more pages.`)).toEqual([])
  for (const other of [`${change}0`, change.replace('GET', 'PUT'), 'all lists are shorter'])
    expect(remaining(other)).toEqual([change])
  expect(unnamedChanges([change], `- ${change}\n`)).toEqual([change])
})

const compare = (...words: string[]) => {
  const args = ['commands/compare-openapi.ts', ...words]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, lines: stderr.trim().split('\n').filter(Boolean).length }
}

test('the command compares with a file, and explains a wrong use in one line', () => {
  expect(compare('docs/openapi.json')).toEqual({ status: 0, stdout: '', lines: 0 })
  for (const words of [[], ['missing.json'], ['README.md'], ['package.json'], ['a', 'b'], ['--x']])
    expect(compare(...words), words.join(' ')).toEqual({ status: 2, stdout: '', lines: 1 })
  const { status, stdout } = compare('docs/bank-protocol.json')
  expect(status).toBe(1)
  expect(stdout.split('\n')).toContain('/submissions is removed')
})
