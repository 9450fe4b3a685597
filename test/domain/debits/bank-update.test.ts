import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  applyBankUpdate,
  BankUpdate,
  failureCode,
} from '../../../shared/domain/debits/bank-update.ts'
import { type Debit, stateAt } from '../../../shared/domain/debits/debit.ts'
import type { Status } from '../../../shared/domain/debits/lifecycle.ts'
import { debitLine } from '../../../shared/domain/settlement/line.ts'
import { parseInput } from '../../../shared/domain/validation.ts'
import { granted, refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, completed, failed, opened, processing, reversed } from './one-debit.ts'

const success = { status: 'completed', bank_reference: 'GCB-78' }
const failure = { status: 'failed', bank_reference: 'GCB-78', error_message: 'Declined' }

const expectRefused = (input: object, details: Record<string, string[]>): void => {
  expect(refused(parseInput(BankUpdate, input))).toEqual({ code: '422/1007', details })
}

const wrongValues = rowsOf(`
  status           "processing"         must be one of completed, failed
  status           "pending"            must be one of completed, failed
  status           "reversed"           must be one of completed, failed
  status           "COMPLETED"          must be one of completed, failed
  status           1                    must be one of completed, failed
  status           null                 must be one of completed, failed
  bank_reference   null                 is required
  bank_reference   ""                   is required
  bank_reference   77                   must be a string
  bank_reference   "a\\u0007b"          must not contain control or invisible formatting characters
  approval_method  "direct"             must be one of ussd, mobile_api, web, mobile_app
  approval_method  "USSD"               must be one of ussd, mobile_api, web, mobile_app
  error_message    ""                   is required when status is failed
  error_message    null                 is required when status is failed
  error_message    "\\n\\t"             is required when status is failed
  error_message    5                    must be a string
  fee              "-0.01"              must be a decimal of zero or more
  fee              "1e2"                must be a decimal of zero or more
  fee              "abc"                must be a decimal of zero or more
  fee              true                 must be a decimal
  metadata         []                   must be an object
`)

describe('wrong values are 422/1007 with the field', () => {
  test.each(wrongValues)('the %s %s is refused: %s', (field, value, message) => {
    expectRefused({ ...failure, [field]: JSON.parse(value) }, { [field]: [message] })
  })

  test('a report needs a status and a bank reference', () => {
    expectRefused({ bank_reference: 'GCB-78' }, { status: ['is required'] })
    expectRefused({ status: 'completed' }, { bank_reference: ['is required'] })
  })

  test('a failed report without a message lists all errors', () => {
    const message = ['is required when status is failed']
    expectRefused({ status: 'failed', bank_reference: 'GCB-78' }, { error_message: message })
    expectRefused({ status: 'failed' }, { bank_reference: ['is required'], error_message: message })
  })
})

test('a report keeps only the fields it may set', () => {
  const all = { ...success, approval_method: 'mobile_api', fee: '1.50', metadata: { till: 4 } }
  const stranger = { amount: '1.00', currency: 'NGN', customer: {}, reference: 'x' }
  expect(parseInput(BankUpdate, { ...all, ...stranger })).toEqual({ ...all, fee: 150 })
})

const cause = { at: at('10:03:00.000'), by: 'bank:GCB', requestId: 'req-9' }
const apply = (debit: Debit, report: object) =>
  applyBankUpdate(debit, v.parse(BankUpdate, report), cause)

const examples = { pending: opened, processing, completed, failed, reversed }

const verdictOf = (from: Status, report: object): string => {
  const debit = examples[from]
  const after = apply(debit, report)
  if (after === debit) return 'unchanged'
  return 'facts' in after ? after.status : refused(after).code
}

test('every status has its published result for both kinds of reports', () => {
  const rows = rowsOf(`
    pending      completed   failed
    processing   completed   failed
    completed    unchanged   422/3001
    failed       422/3001    unchanged
    reversed     422/3001    422/3001
  `)
  const judged = Object.keys(examples).map((from) => [
    from,
    verdictOf(from as Status, success),
    verdictOf(from as Status, failure),
  ])
  expect(judged).toEqual(rows)
})

test('an invalid transition names both statuses', () => {
  const { details } = refused(apply(completed, failure))
  expect(details).toEqual({ status: ['cannot transition from completed to failed'] })
})

test('a completed report changes the debit in one event', () => {
  const report = { ...success, approval_method: 'web', fee: '1.50' }
  const after = granted(apply(processing, report))
  expect(after.version).toBe(processing.version + 1)
  expect(after.history.slice(0, -1)).toEqual(processing.history)
  expect(after.history.at(-1)).toEqual({
    type: 'completed',
    ...cause,
    changes: { bankReference: 'GCB-78', approvalMethod: 'web', fee: 150 },
  })
  expect(stateAt(after)).toMatchObject({ completedAt: cause.at, errorMessage: null })
})

test('a failed report sets the message and the code of the failure', () => {
  expect(stateAt(granted(apply(processing, failure)))).toMatchObject({
    status: 'failed',
    errorMessage: 'Declined',
    errorCode: 'transaction_declined',
    completedAt: null,
  })
})

test('an error message on a completed report is not kept', () => {
  const after = granted(apply(processing, { ...success, error_message: 'Ignored' }))
  expect(stateAt(after)).toMatchObject({ errorMessage: null, errorCode: null })
})

test('a fee above the amount settles as the amount', () => {
  const after = granted(apply(processing, { ...success, fee: '100.01' }))
  expect(debitLine(after, undefined)).toMatchObject({ gross: 100_00, fee: 100_00, net: 0 })
})

test('null means absent in every optional field of a report', () => {
  const absent = { approval_method: null, error_message: null, fee: null, metadata: null }
  const after = granted(apply(processing, { ...success, ...absent }))
  expect(after.history.at(-1)?.changes).toEqual({ bankReference: 'GCB-78' })
})

test('the approval method mobile_app is stored as mobile_api', () => {
  const after = granted(apply(processing, { ...success, approval_method: 'mobile_app' }))
  expect(stateAt(after).approvalMethod).toBe('mobile_api')
})

test('a bank reference has at most 255 characters', () => {
  const longest = 'x'.repeat(255)
  const after = granted(apply(processing, { ...success, bank_reference: longest }))
  expect(stateAt(after).bankReference).toBe(longest)
  const details = { bank_reference: ['must not exceed 255 characters'] }
  expectRefused({ ...success, bank_reference: `${longest}x` }, details)
})

test('an error message of any length is accepted: 2,000 characters are stored, 500 are shown', () => {
  const words = `Insufficient funds\r\nbalance 0 ${'é'.repeat(3_000)}`
  const after = granted(apply(processing, { ...failure, error_message: words }))
  const stored = after.history.at(-1)?.changes.errorMessage ?? ''
  expect([...stored]).toHaveLength(2_000)
  expect(stored.startsWith('Insufficient funds  balance 0 é')).toBe(true)
  expect(stateAt(after)).toMatchObject({
    errorMessage: stored.slice(0, 500),
    errorCode: 'insufficient_funds',
  })
})

test('metadata of a bank is merged with the existing keys', () => {
  const after = granted(apply(processing, { ...success, metadata: { branch: 'Accra', till: 4 } }))
  expect(stateAt(after).metadata).toEqual({ order: 1001, branch: 'Accra', till: 4 })
})

test('merged metadata has at most 8 KiB', () => {
  const metadata = { a: 'x'.repeat(8_000) }
  const debit = { ...processing, facts: { ...processing.facts, metadata } }
  const room = 8 * 1024 - JSON.stringify({ ...metadata, b: '' }).length
  granted(apply(debit, { ...success, metadata: { b: 'y'.repeat(room) } }))
  expect(refused(apply(debit, { ...success, metadata: { b: 'y'.repeat(room + 1) } }))).toEqual({
    code: '422/1007',
    details: { metadata: ['must not exceed 8192 bytes'] },
  })
  granted(apply(debit, { ...success, metadata: { a: 'y'.repeat(8_000) } }))
})

const causes = rowsOf(`
  Insufficient funds                 insufficient_funds
  Not enough money in the account    insufficient_funds
  LOW BALANCE                        insufficient_funds
  Transaction timeout                timeout
  Request timed out                  timeout
  Approval time-out                  timeout
  Session expired                    timeout
  Declined by customer               transaction_declined
  Customer denied the debit          transaction_declined
  Rejected                           transaction_declined
  Cancelled by user                  transaction_declined
  Invalid account                    invalid_account
  Account is closed                  invalid_account
  Network error                      network_error
  Bank unavailable                   network_error
  Error 17                           unknown_error
`)

test.each(causes)('the explanation "%s" is %s', (message, code) => {
  expect(failureCode(message)).toBe(code)
})
