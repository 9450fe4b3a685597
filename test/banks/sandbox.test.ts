import { expect, test } from 'vitest'
import { sandboxConnector, sandboxPayouts } from '../../shared/banks/sandbox.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { account, accountOf, configOf, payoutOf, submissionOf } from './examples.ts'

test.each([
  ['the number +233241234567', { phone: '+233241234567' }, 'accepted', 'completed'],
  ['the number +233241111111', { phone: '+233241111111' }, 'accepted', 'insufficient_funds'],
  ['the number +233242222222', { phone: '+233242222222' }, 'silent', 'timeout'],
  ['the number +233243333333', { phone: '+233243333333' }, 'accepted', 'transaction_declined'],
  ['the number +233244444444', { phone: '+233244444444' }, 'accepted', undefined],
  ['the balance', { amount: pesewas(5_000_00) }, 'accepted', 'completed'],
  ['more than the balance', { amount: pesewas(5_000_01) }, 'accepted', 'insufficient_funds'],
  ['no account', { account: undefined }, 'rejected', undefined],
  ['an inactive account', { account: { ...account, status: 'inactive' } }, 'rejected', undefined],
])('the sandbox bank takes a debit with %s as %j: %s, reports %s', async (...row) => {
  const [, fields, kind, outcome] = row
  const reports: SandboxReport[] = []
  const reportLater = async (report: SandboxReport) => void reports.push(report)
  const submission = submissionOf(fields as { phone: PhoneNumber })
  const result = await sandboxConnector(configOf({ reportLater })).submit(submission)
  expect(result.kind).toBe(kind)
  expect(reports).toEqual(outcome ? [{ reference: submission.reference, outcome }] : [])
})

test.each([
  ['1041001001', 'paid', 'paid'],
  ['1041000000', 'rejected', 'rejected'],
  ['1041009999', 'underway', 'paid'],
  ['0000999900', 'paid', 'paid'],
])('a payout to %s is %s, and %s at a repeat', async (accountNumber, first, second) => {
  const payout = payoutOf({ account: accountOf(accountNumber) })
  expect(await sandboxPayouts.pay(payout)).toMatchObject({ kind: first })
  expect(await sandboxPayouts.pay({ ...payout, repeated: true })).toMatchObject({ kind: second })
})

test('the bank’s reference follows from the uuid', async () => {
  const payout = payoutOf()
  const bankReference = `GCB-${payout.uuid.slice(0, 8).toUpperCase()}`
  expect(await sandboxPayouts.pay(payout)).toEqual({ kind: 'paid', bankReference })
})
