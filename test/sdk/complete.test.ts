import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exampleOf, exchanges, replies } from '../../sdk/openapi/bank-exchanges.ts'
import { bankProtocol } from '../../sdk/openapi/bank-protocol.ts'
import { openApi } from '../../sdk/openapi/document.ts'
import { camel } from '../../sdk/openapi/operation.ts'
import { schemaOf } from '../../sdk/openapi/schemas.ts'
import { type Kind, type Outcome, replyText } from '../../sdk/typescript/src/bank-replies.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { BankUpdate } from '../../shared/domain/debits/bank-update.ts'
import { ChargeRequest } from '../../shared/domain/debits/charge.ts'
import { isOpen, lifecycle, statuses } from '../../shared/domain/debits/lifecycle.ts'
import { eventTypes } from '../../shared/domain/webhooks/event-type.ts'
import { camelCase, camelCased } from '../support/camel-case.ts'

/**
 * Clients have every operation and field of the API, kits for banks every member of the protocol. The
 * tests of sdk/python check the replies of the Python kit.
 */

type Schema = { required: string[]; properties: object }

const read = (file: string): string => readFileSync(`sdk/${file}`, 'utf8')

const clients = {
  provider: { typescript: 'client.ts', python: 'operations.py' },
  bank: { typescript: 'bank-reports.ts', python: 'reports.py' },
}

test.each(operationNames)('both clients call %s, and read the pages of a list', (name) => {
  const { caller, path, method } = operations[name]
  const files = clients[caller]
  const typescript = read(`typescript/src/${files.typescript}`)
  expect(typescript).toContain(`'${camel(name)}'`)
  const python = read(`python/src/debit_collection/${files.python}`)
  expect(python).toContain(`"${name.replaceAll('-', '_')}"`)
  const { paths } = openApi() as Record<string, Record<string, Record<string, object>>>
  if (!('x-pagination' in (paths?.[path]?.[method.toLowerCase()] ?? {}))) return
  expect(typescript).toMatch(new RegExp(`(?:#list|readOf)\\('${camel(name)}'`))
  expect(python).toMatch(new RegExp(`(?:_pages|Call)\\("${name.replaceAll('-', '_')}"`))
})

test.each(['typescript/examples/shop.ts', 'python/examples/fastapi_shop.py'])(
  'the shop %s handles the event of each final status',
  (file) => {
    for (const status of statuses.filter((one) => !isOpen(one))) {
      expect(read(file)).toMatch(new RegExp(`['"]${lifecycle[status].event}['"]`))
    }
  },
)

/** Returns the lines of a Python file from the first that matches, while they are indented deeper. */
const pythonBlock = (file: string, first: RegExp): string[] => {
  const lines = read(`python/src/debit_collection/${file}`).split('\n')
  const start = lines.findIndex((line) => first.test(line))
  const depth = (line = ''): number => line.search(/[^ ]/)
  const length = lines
    .slice(start + 1)
    .findIndex((line) => line !== '' && depth(line) <= depth(lines[start]))
  return lines.slice(start + 1, start + 1 + length)
}

const namesIn = (lines: readonly string[], name: RegExp): string[] =>
  lines.flatMap((line) => name.exec(line)?.[1] ?? [])

const chargeFields = Object.keys(ChargeRequest.entries)

test('the Python client has a parameter for each field of a charge', () => {
  const parameters = namesIn(pythonBlock('operations.py', /def charge\($/), /^ +(\w+): /)
  // All charges are in one currency.
  expect(chargeFields.filter((field) => !parameters.includes(field))).toEqual(['currency'])
})

test('both clients send each member of a report of a bank', () => {
  const members = Object.keys(BankUpdate.entries).sort()
  const [, type = ''] =
    /^export type BankReport = \{\n(.*?)^\}/ms.exec(read('typescript/src/bank-reports.ts')) ?? []
  expect(namesIn(type.split('\n'), /^ {2}(\w+)\??: /).sort()).toEqual(members.map(camelCase).sort())
  for (const first of [/def update\($/, /def callback\($/]) {
    const parameters = namesIn(pythonBlock('reports.py', first), /^ +(\w+): /)
    expect(members.filter((name) => !parameters.includes(name))).toEqual([])
  }
})

test('the Python client takes a handler for each type of event', () => {
  const handlers = namesIn(pythonBlock('wire.py', /^Handlers = /), /"([\w.]+)": Handler/)
  expect(handlers.sort()).toEqual(
    Object.values(eventTypes)
      .map(({ event }) => event)
      .sort(),
  )
})

const { schemas } = bankProtocol().components as { schemas: Record<string, Schema> }

const { schemas: apiSchemas } = openApi().components as { schemas: Record<string, Schema> }

/** The schemas by the names of the Python types. */
const pythonSchemas = new Map(
  Object.entries({ ...schemas, Payout: schemas.Payment as Schema, ...apiSchemas }),
)

const wireClasses = [
  ...read('python/src/debit_collection/wire.py').matchAll(/^class (\w+)\(TypedDict\):$/gm),
].flatMap(([, name = '']) => (pythonSchemas.has(name) ? [name] : []))

test('the Python types include the requests to banks', () => {
  expect(wireClasses).toEqual(expect.arrayContaining(['Submission', 'Payout', 'RefundOrder']))
})

test.each(wireClasses)('the Python type %s has the members of its schema', (name) => {
  const block = pythonBlock('wire.py', new RegExp(`^class ${name}\\(`))
  const { properties = {} } = pythonSchemas.get(name) ?? {}
  expect(namesIn(block, /^ {4}(\w+): /).sort()).toEqual(Object.keys(properties).sort())
})

test('the Python client sends each field of a charge', () => {
  const sent = namesIn(pythonBlock('operations.py', /^ +body = \{$/), /"(\w+)": /)
  expect(sent.sort()).toEqual(chargeFields.toSorted())
})

const schemaNamed = (name: string): Schema => {
  const schema = schemas[name]
  if (!schema) throw new Error(`The protocol has no schema ${name}`)
  return schema
}

const kinds = {
  '/submissions': 'submission',
  '/settlements': 'payout',
  '/refunds': 'refund',
} as const

const possibleReplies = Object.entries(kinds).flatMap(([path, kind]) => {
  const { example, replies: names } = exchanges[path as keyof typeof kinds]
  return names.map((name) => [kind, name, exampleOf(name, example)] as const)
})

type Example = ReturnType<typeof exampleOf>

/** Returns the text of a reply by the TypeScript kit, without some members of its example. */
const textOf = (kind: Kind, { uuid, amount, ...example }: Example, omitted?: string): string => {
  const members = Object.entries(example).filter(([name]) => name !== omitted)
  const outcome = camelCased(Object.fromEntries(members))
  return replyText(kind, { uuid, amount }, outcome as Outcome)
}

const ECHOED = ['status', 'uuid', 'amount']
const ownMembers = (names: readonly string[]) =>
  names.filter((name) => !ECHOED.includes(name)).sort()

test.each(possibleReplies)(
  'the TypeScript kit sends for a %s each member of the reply %s, and needs the required ones',
  (kind, name, example) => {
    const { $ref } = schemaOf(replies[name].schema)
    const { required, properties } = schemaNamed(String($ref).split('/').at(-1) ?? '')
    const members = ownMembers(Object.keys(properties))
    expect(ownMembers(Object.keys(example))).toEqual(members)
    expect(JSON.parse(textOf(kind, example))).toEqual(example)
    const optional = members.filter((member) => !required.includes(member))
    for (const member of members) {
      const send = () => textOf(kind, example, member)
      if (optional.includes(member)) expect(send, member).not.toThrow()
      else expect(send, member).toThrow(TypeError)
    }
  },
)
