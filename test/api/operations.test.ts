import { expect, test } from 'vitest'
import { schemaOf } from '../../sdk/openapi/schemas.ts'
import { type Operation, type OperationName, operations } from '../../shared/api/operations.ts'
import { resourceAt } from '../../shared/api/resources.ts'
import { rowsOf } from '../support/rows.ts'

type Fields = { properties?: Record<string, { pattern?: string }> }

const PROVIDER = '/api/v1/payment-providers'
const BANK = '/api/v1/banks'

// A literal segment precedes a parameter, so the path of the charge has no GET.
const routes = rowsOf(`
  ${PROVIDER}/debit-requests/charge               POST      charge                    {}
  ${PROVIDER}/debit-requests/DCS-20250102-00000A  GET,HEAD  get-debit-request         {"reference":"DCS-20250102-00000A"}
  ${PROVIDER}/debit-requests/Charge               GET,HEAD  get-debit-request         {"reference":"Charge"}
  ${PROVIDER}/debit-requests/a%2Fb                GET,HEAD  get-debit-request         {"reference":"a%2Fb"}
  ${PROVIDER}/debit-requests/%00                  GET,HEAD  get-debit-request         {"reference":"%00"}
  ${PROVIDER}/debit-requests/..%2f..              GET,HEAD  get-debit-request         {"reference":"..%2f.."}
  ${PROVIDER}/debit-requests/{reference}          GET,HEAD  get-debit-request         {"reference":"{reference}"}
  ${PROVIDER}/debit-requests/charge/              POST      charge                    {}
  ///${PROVIDER}/debit-requests/charge//          POST      charge                    {}
  ${PROVIDER}/debit-requests/                     GET,HEAD  list-debit-requests       {}
  ${BANK}/debit-transactions/3f2b8c1e/update      POST      update-debit-transaction  {"uuid":"3f2b8c1e"}
`)

test.each(routes)('the path %s accepts %s for %s with the undecoded parameters %s', (...row) => {
  const [path = '', methods = '', name, parameters = ''] = row
  expect(resourceAt(path)).toEqual({
    template: operations[name as OperationName].path,
    methods: Object.fromEntries(methods.split(',').map((method) => [method, name])),
    parameters: JSON.parse(parameters),
  })
})

test.each([
  ...['', '/', '//', '/api/v1', '/api/v1/unknown', `${PROVIDER}//debit-requests/charge`],
  ...[`${PROVIDER}/debit-requests/a/b`, `${PROVIDER}/Debit-Requests/charge`],
  ...[`${BANK}/debit-transactions//update`, `${BANK}/debit-transactions/3f2b8c1e/UPDATE`],
  ...[
    '/api/v2/payment-providers/debit-requests/charge',
    `/sandbox${PROVIDER}/debit-requests/charge`,
  ],
  'api/v1/payment-providers/debit-requests/charge',
])('the path "%s" has no resource', (path) => {
  expect(resourceAt(path)).toBeUndefined()
})

test('every amount of a body can also be a number, which is read as the text that the caller wrote', () => {
  const isAmount = ({ pattern }: { pattern?: string }): boolean =>
    pattern !== undefined && new RegExp(pattern).test('1.50') && !new RegExp(pattern).test('one')
  for (const [name, { body, decimals = [] }] of Object.entries<Operation>(operations)) {
    const { properties = {} } = body ? (schemaOf(body) as Fields) : {}
    const amounts = Object.keys(properties).filter((field) => isAmount(properties[field] ?? {}))
    expect([name, amounts]).toEqual([name, decimals])
  }
})
