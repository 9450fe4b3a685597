import * as v from 'valibot'
import { expect, test } from 'vitest'
import { failureCode, failureCodes } from '../../../shared/domain/banks/failure-code.ts'
import { applyBankUpdate, BankUpdate } from '../../../shared/domain/debits/bank-update.ts'
import { type Debit, stateAt } from '../../../shared/domain/debits/debit.ts'
import { parseInput } from '../../../shared/domain/validation.ts'
import { granted, refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, processing } from './one-debit.ts'

const success = { status: 'completed', bank_reference: 'GCB-78' }
const failure = { status: 'failed', bank_reference: 'GCB-78', error_message: 'Declined' }

const expectRefused = (input: object, details: Record<string, string[]>): void => {
  expect(refused(parseInput(BankUpdate, input))).toEqual({ code: '422/1007', details })
}

const wrongValues = rowsOf(`
  status           must be one of completed, failed           "processing"  "pending"  "reversed"  "COMPLETED"  1  null
  bank_reference   is required                                null  ""
  bank_reference   must not contain control or invisible formatting characters  "a\\u0007b"
  bank_reference   must not exceed 255 characters             "${'x'.repeat(256)}"
  approval_method  must be one of ussd, mobile_api, web, mobile_app  "direct"  "USSD"
  error_message    is required when status is failed          ""  null  "\\n\\t"
  fee              must be a decimal of zero or more          "-0.01"  "1e2"  "abc"
  metadata         must be an object                          []
`).flatMap(([field = '', message = '', ...values]) =>
  values.map((value) => [field, value, message] as const),
)

test.each(wrongValues)('the %s %s is refused: %s', (field, value, message) => {
  expectRefused({ ...failure, [field]: JSON.parse(value) }, { [field]: [message] })
})

test('a report keeps only the fields it may set', () => {
  const all = { ...success, approval_method: 'mobile_api', fee: '1.50', metadata: { till: 4 } }
  const stranger = { amount: '1.00', currency: 'NGN', customer: {}, reference: 'x' }
  expect(parseInput(BankUpdate, { ...all, ...stranger })).toEqual({ ...all, fee: 150 })
})

const cause = { at: at('10:03:00.000'), by: 'bank:GCB', requestId: 'req-9' }
const apply = (debit: Debit, report: object) =>
  applyBankUpdate(debit, v.parse(BankUpdate, report), cause)

const stored = { bankReference: 'GCB-78' }
const declined = { errorMessage: 'Declined', errorCode: 'transaction_declined' }
const longest = 'x'.repeat(255)

test.each([
  [
    'a completed report',
    { approval_method: 'web', fee: '1.50' },
    { approvalMethod: 'web', fee: 150 },
  ],
  ['a failed report', failure, declined],
  ['a fee above the amount', { fee: '100.01' }, { fee: 100_01 }],
  ['a fee of zero', { fee: '0' }, { fee: 0 }],
  ['a message of a completed report', { error_message: 'Ignored' }, {}],
  ['null', { approval_method: null, error_message: null, fee: null, metadata: null }, {}],
  ['mobile_app', { approval_method: 'mobile_app' }, { approvalMethod: 'mobile_api' }],
  ['the longest bank reference', { bank_reference: longest }, { bankReference: longest }],
  ['metadata', { metadata: { branch: 'Accra' } }, { metadata: { branch: 'Accra' } }],
])('each accepted report is stored in one event: %s', (_, report, changes) => {
  const next = granted(apply(processing, { ...success, ...report }))
  const type = { ...success, ...report }.status
  expect(next).toEqual({
    ...processing,
    status: type,
    version: processing.version + 1,
    history: [...processing.history, { type, ...cause, changes: { ...stored, ...changes } }],
  })
})

test('an error message of any length is accepted: 2,000 characters are stored, 500 are shown', () => {
  const words = `Insufficient funds\r\nbalance 0 ${'é'.repeat(3_000)}`
  const next = granted(apply(processing, { ...failure, error_message: words }))
  const errorMessage = `Insufficient funds  balance 0 ${'é'.repeat(1_970)}`
  expect(next.history.at(-1)?.changes.errorMessage).toBe(errorMessage)
  expect(stateAt(next).errorMessage).toBe(errorMessage.slice(0, 500))
})

test('the merged metadata has at most 8 KiB', () => {
  const metadata = { a: 'x'.repeat(8_000) }
  const debit = { ...processing, facts: { ...processing.facts, metadata } }
  const room = 8 * 1024 - JSON.stringify({ ...metadata, b: '' }).length
  granted(apply(debit, { ...success, metadata: { b: 'y'.repeat(room) } }))
  granted(apply(debit, { ...success, metadata: { a: 'y'.repeat(8_000) } }))
  expect(refused(apply(debit, { ...success, metadata: { b: 'y'.repeat(room + 1) } }))).toEqual({
    code: '422/1007',
    details: { metadata: ['must not exceed 8192 bytes'] },
  })
})

const causes = rowsOf(`
  insufficient_funds    Insufficient funds  Not enough money in the account  LOW BALANCE  low_balance
  timeout               Transaction timeout  Request timed out  Approval time-out  TIME_OUT  Session expired
  transaction_declined  Declined by customer  Customer denied the debit  Rejected  Cancelled by user
  invalid_account       Invalid account  Account is closed  ACCOUNT_NOT_FOUND  Account-closed
  invalid_account       account number invalid  Account does not exist  no such_ account
  network_error         Network error  Bank unavailable
  unknown_error         Error 17
`).flatMap(([code = '', ...messages]) => messages.map((message) => [message, code] as const))

test.each(failureCodes)('the published code "%s" is its own explanation', (code) => {
  expect(failureCode(code)).toBe(code)
})

test.each(causes)('the explanation "%s" is %s', (message, code) => {
  expect(failureCode(message)).toBe(code)
})
