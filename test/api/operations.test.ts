import { describe, expect, test } from 'vitest'
import { notFound, type OperationName, operations } from '../../shared/api/operations.ts'
import { resourceAt } from '../../shared/api/resources.ts'
import { rowsOf } from '../support/rows.ts'

const PROVIDER = '/api/v1/payment-providers'
const BANK = '/api/v1/banks'

const routes = rowsOf(`
  ${PROVIDER}/debit-requests/charge               POST  charge
  ${PROVIDER}/debit-requests/DCS-20250102-00000A  GET   get-debit-request
  ${BANK}/debit-transactions/3f2b8c1e/update      POST  update-debit-transaction
`)

test.each(routes)('%s accepts %s', (path, method, name) => {
  const head = method === 'GET' ? { HEAD: name } : {}
  expect(resourceAt(path)?.methods).toEqual({ [method]: name, ...head })
  expect(resourceAt(path)?.template).toBe(operations[name as OperationName].path)
})

describe('literal segments', () => {
  test('a literal segment precedes a parameter, so the charge path has no GET', () => {
    const resource = resourceAt(`${PROVIDER}/debit-requests/charge`)
    expect(resource?.parameters).toEqual({})
    expect(resource?.methods.GET).toBeUndefined()
  })

  test('a reference path has no POST', () => {
    const resource = resourceAt(`${PROVIDER}/debit-requests/Charge`)
    expect(resource?.parameters).toEqual({ reference: 'Charge' })
    expect(resource?.methods.POST).toBeUndefined()
  })
})

const parameters = rowsOf(`
  ${PROVIDER}/debit-requests/DCS-20250102-00000A  {"reference":"DCS-20250102-00000A"}
  ${PROVIDER}/debit-requests/a%2Fb                {"reference":"a%2Fb"}
  ${PROVIDER}/debit-requests/%00                  {"reference":"%00"}
  ${PROVIDER}/debit-requests/..%2f..              {"reference":"..%2f.."}
  ${PROVIDER}/debit-requests/{reference}          {"reference":"{reference}"}
  ${BANK}/debit-transactions/3f2b8c1e/update      {"uuid":"3f2b8c1e"}
`)

test.each(parameters)('the parameters of %s are undecoded: %s', (path, expected) => {
  expect(resourceAt(path)?.parameters).toEqual(JSON.parse(expected))
})

const unknownPaths = [
  '',
  '/',
  '/api/v1',
  '/api/v1/unknown',
  `${PROVIDER}/debit-requests/`,
  `${PROVIDER}/debit-requests/charge/`,
  `${PROVIDER}//debit-requests/charge`,
  `${PROVIDER}/debit-requests/a/b`,
  `${PROVIDER}/Debit-Requests/charge`,
  `${BANK}/debit-transactions//update`,
  `${BANK}/debit-transactions/3f2b8c1e/UPDATE`,
  '/api/v2/payment-providers/debit-requests/charge',
  'api/v1/payment-providers/debit-requests/charge',
  '/sandbox/api/v1/payment-providers/debit-requests/charge',
]

test.each(unknownPaths)('the path "%s" has no resource', (path) => {
  expect(resourceAt(path)).toBeUndefined()
})

const limits = rowsOf(`
  charge                    provider  1000  100  caller     1456
  get-debit-request         provider  200   60   reference  1454
  update-debit-transaction  bank      30    10   token      1455
`)

test.each(limits)('%s allows a %s %s requests a minute, %s in the sandbox', (...row) => {
  const { caller, limit } = operations[row[0] as OperationName]
  const { production, sandbox, per, code } = limit
  expect([caller, production, sandbox, per, code].map(String)).toEqual(row.slice(1))
})

const missing = rowsOf(`
  get-debit-request         404/3404  Transaction not found  transactions
  update-debit-transaction  404/1404  Transaction not found  transactions
`)

test.each(missing)('%s refuses a missing object with %s %s', (name, code, message, category) => {
  const { http, error } = notFound(name as OperationName)
  const row = [`${http}/${error.code}`, error.message, error.category]
  expect(row).toEqual([code, message, category])
})
