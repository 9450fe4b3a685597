import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { breakingChanges, unnamedChanges } from '../../../sdk/openapi/breaking-changes.ts'
import { openApi } from '../../../sdk/openapi/document.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document has no types
type Description = any

type Planted = [change: string, plant: (next: Description) => unknown, line: string]

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
const READ = '/api/v1/payment-providers/debit-requests/{reference}'
const LIST = '/api/v1/payment-providers/debit-requests'
const EVENTS = '/api/v1/payment-providers/events'

const fieldsOf = (next: Description) => next.components.schemas.ChargeFields
const debitOf = (next: Description) => next.components.schemas.Debit
const codesOf = (next: Description): number[] =>
  next.paths[CHARGE].post.responses[400]['x-error-codes']

const without = <T>(list: T[], value: T): T[] => list.filter((one) => one !== value)

const BREAKING: Planted[] = [
  ['a path is removed', (next) => delete next.paths[READ], `${READ} is removed`],
  [
    'an operation is removed',
    (next) => delete next.paths[CHARGE].post,
    `POST ${CHARGE} is removed`,
  ],
  [
    'a response is removed',
    (next) => delete next.paths[CHARGE].post.responses[202],
    `POST ${CHARGE}: response 202 is removed`,
  ],
  [
    'a member of a response is removed',
    (next) => delete debitOf(next).properties.narration,
    'schema Debit of a response: member narration is removed',
  ],
  [
    'a member of a response becomes nullable',
    (next) => {
      debitOf(next).properties.reference.type = ['string', 'null']
    },
    'schema Debit of a response: member reference can be null',
  ],
  [
    'an object of a response becomes nullable',
    (next) => {
      const { properties } = debitOf(next)
      properties.customer = { anyOf: [properties.customer, { type: 'null' }] }
    },
    'schema Debit of a response: member customer can be null',
  ],
  [
    'a member of a response becomes optional',
    (next) => {
      debitOf(next).required = without(debitOf(next).required, 'amount')
    },
    'schema Debit of a response: member amount can be absent',
  ],
  [
    'a member of a response has another type',
    (next) => {
      debitOf(next).properties.amount = { type: 'integer' }
    },
    'schema Debit of a response: member amount can be integer',
  ],
  [
    'a request needs a new member',
    (next) => {
      fieldsOf(next).properties.purpose = { type: 'string' }
      fieldsOf(next).required.push('purpose')
    },
    'schema ChargeFields of a request: member purpose is required',
  ],
  [
    'a request needs a new parameter',
    (next) =>
      next.paths[LIST].get.parameters.push({
        name: 'day',
        in: 'query',
        required: true,
        schema: {},
      }),
    `GET ${LIST}: query parameter day is required`,
  ],
  [
    'a parameter of requests has a lower maximum',
    (next) => {
      const limit = next.paths[LIST].get.parameters.find(
        ({ name }: { name: string }) => name === 'per_page',
      )
      limit.schema.maximum = 50
    },
    `GET ${LIST}: query parameter per_page has maximum 50`,
  ],
  [
    'a member of requests has a smaller length',
    (next) => {
      fieldsOf(next).properties.narration.maxLength = 20
    },
    'schema ChargeFields of a request: member narration has maxLength 20',
  ],
  [
    'a member of requests accepts fewer types',
    (next) => {
      fieldsOf(next).properties.amount.type = 'string'
    },
    'schema ChargeFields of a request: member amount no longer accepts type number',
  ],
  [
    'a value of requests is removed',
    (next) => {
      const { kind } = next.components.schemas.RequestReversalFields.properties
      kind.enum = without(kind.enum, 'complaint')
    },
    'schema RequestReversalFields of a request: member kind no longer accepts "complaint"',
  ],
  [
    'a wrapped form of requests is removed',
    (next) => {
      const content = next.paths[CHARGE].post.requestBody.content['application/json']
      content.schema = content.schema.oneOf[0]
    },
    `POST ${CHARGE}: request no longer accepts the form debit_request`,
  ],
  [
    'a code of errors is removed',
    (next) => codesOf(next).splice(codesOf(next).indexOf(3005), 1),
    `POST ${CHARGE}: response 400 error code 3005 is removed`,
  ],
  [
    'an operation needs another credential',
    (next) => {
      next.paths[READ].get.security = [{ bank: [] }]
    },
    `GET ${READ}: security is changed`,
  ],
  [
    'a webhook is removed',
    (next) => delete next.webhooks['transaction.failed'],
    'webhook transaction.failed is removed',
  ],
]

const COMPATIBLE: [change: string, plant: (next: Description) => unknown][] = [
  ['a path is added', (next) => (next.paths['/api/v1/new'] = next.paths[LIST])],
  [
    'a response has a new member',
    (next) => {
      debitOf(next).properties.channel = { type: 'string' }
      debitOf(next).required.push('channel')
    },
  ],
  [
    'a request has a new optional member',
    (next) => (fieldsOf(next).properties.purpose = { type: 'string' }),
  ],
  [
    'a request has a new optional parameter',
    (next) =>
      next.paths[LIST].get.parameters.push({
        name: 'day',
        in: 'query',
        required: false,
        schema: {},
      }),
  ],
  [
    'a member of requests becomes optional',
    (next) => (fieldsOf(next).required = without(fieldsOf(next).required, 'narration')),
  ],
  [
    'a member of requests accepts longer texts',
    (next) => (fieldsOf(next).properties.narration.maxLength = 500),
  ],
  ['a member of responses is never null', (next) => (debitOf(next).properties.fee.type = 'string')],
  ['a status has a new value', (next) => next.components.schemas.DebitStatus.enum.push('on_hold')],
  ['a code of errors is added', (next) => codesOf(next).push(3009)],
  [
    'the feed has a new event',
    (next) => {
      const { Event, PingEvent } = next.components.schemas
      next.components.schemas.NoticeEvent = PingEvent
      Event.oneOf.push({ $ref: '#/components/schemas/NoticeEvent' })
    },
  ],
  [
    'a component has another name',
    (next) => {
      const text = JSON.stringify(next.paths[EVENTS]).replaceAll('schemas/Event"', 'schemas/Fact"')
      next.paths[EVENTS] = JSON.parse(text)
      next.components.schemas.Fact = next.components.schemas.Event
    },
  ],
  ['a text is changed', (next) => (next.paths[CHARGE].post.description = 'Charges')],
]

const planted = (plant: (next: Description) => unknown): string[] => {
  const [base, next] = [openApi(), openApi()].map((one) => JSON.parse(JSON.stringify(one)))
  plant(next)
  return breakingChanges(base, next)
}

test.each(BREAKING)('a comparison reports that %s', (_, plant, line) => {
  expect(planted(plant)).toEqual([line])
})

test.each(COMPATIBLE)('a comparison accepts that %s', (_, plant) => {
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
