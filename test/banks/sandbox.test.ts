import { expect, test } from 'vitest'
import { bankReference, sandboxAccount, sandboxConnector } from '../../shared/banks/sandbox.ts'
import { failureCode, failureCodes } from '../../shared/domain/banks/failure-code.ts'
import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { debitUuid, newReference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { configOf, submissionOf } from './examples.ts'

const allowed = async () => true

test.each([
  [5_000_00, 'completed'],
  [5_000_01, 'insufficient_funds'],
])('the sandbox bank accepts a debit of %i pesewas and reports %s', async (amount, outcome) => {
  const reports: SandboxReport[] = []
  const reportLater = async (report: SandboxReport) => void reports.push(report)
  const submission = submissionOf({ amount: pesewas(amount) })
  const { submit } = sandboxConnector(configOf({ reportLater }))
  expect(await submit(submission, allowed)).toMatchObject({ kind: 'accepted' })
  expect(reports).toEqual([{ reference: submission.reference, outcome }])
})

test('the bank references of ten thousand debits with similar uuids differ', () => {
  const at = new Date('2026-11-22T12:00:00Z')
  const { bank } = submissionOf()
  const references = Array.from({ length: 10_000 }, (_, index) =>
    bankReference({ bank, uuid: debitUuid(newReference('DCS', at, index / 1e8)) }),
  )
  expect(new Set(references).size).toBe(10_000)
})

test.each([
  ['+233240000000', undefined],
  ['+233240009999', { accountNumber: '1040009999', status: 'inactive' }],
  ['+233240001234', { customerName: 'Customer 1234', status: 'active' }],
] as const)('the sandbox bank returns for %s the account %o', async (phone, account) => {
  const found = await sandboxAccount(configOf())(submissionOf().bank, phone as PhoneNumber)
  expect(found).toEqual(account && expect.objectContaining(account))
})

test.each(failureCodes)('the message of a rejection has the cause %s', async (code) => {
  const behaviourOf = async () => ({ as: 'rejecting', code, until: null }) as const
  const result = await sandboxConnector(configOf({ behaviourOf })).submit(submissionOf(), allowed)
  expect(result).toMatchObject({ kind: 'rejected', code })
  expect('message' in result && failureCode(result.message)).toBe(code)
})

test.each([
  [2, 2_000, '2408'],
  [20, 5_000, 'accepted'],
])('a slow bank with a timeout of %i s takes %i ms, and the result is %s', async (...row) => {
  const [timeoutSeconds, milliseconds, outcome] = row
  const pauses: number[] = []
  const pause = async (time: number) => void pauses.push(time)
  const behaviourOf = async () => ({ as: 'slow', code: null, until: null }) as const
  const { submit } = sandboxConnector(configOf({ behaviourOf, pause, timeoutSeconds }))
  const result = await submit(submissionOf(), allowed).then(
    ({ kind }) => kind,
    ({ code }) => String(code),
  )
  expect([result, pauses]).toEqual([outcome, [milliseconds]])
})
