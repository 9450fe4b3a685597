import { expect, test } from 'vitest'
import { sandboxConnector } from '../../shared/banks/sandbox.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { configOf, submissionOf } from './examples.ts'

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
