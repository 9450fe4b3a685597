import { expect, test } from 'vitest'
import { sandboxConnector, sandboxPayments } from '../../shared/banks/sandbox.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { accountOf, configOf, payoutOf, submissionOf } from './examples.ts'

test.each([
  [5_000_00, 'completed'],
  [5_000_01, 'insufficient_funds'],
])('the sandbox bank accepts a debit of %i pesewas and reports %s', async (amount, outcome) => {
  const reports: SandboxReport[] = []
  const reportLater = async (report: SandboxReport) => void reports.push(report)
  const submission = submissionOf({ amount: pesewas(amount) })
  const { submit } = sandboxConnector(configOf({ reportLater }))
  expect(await submit(submission)).toMatchObject({ kind: 'accepted' })
  expect(reports).toEqual([{ reference: submission.reference, outcome }])
})

test.each([
  ['1041001001', 'paid', 'paid'],
  ['1041000000', 'rejected', 'rejected'],
  ['1041009999', 'underway', 'paid'],
  ['0000999900', 'paid', 'paid'],
])('a payout to %s is %s, and %s at a repeat', async (accountNumber, first, second) => {
  const payout = payoutOf({ account: accountOf(accountNumber) })
  expect(await sandboxPayments.pay(payout)).toMatchObject({ kind: first })
  expect(await sandboxPayments.pay({ ...payout, repeated: true })).toMatchObject({ kind: second })
})
