import * as v from 'valibot'
import type { FailureCode } from '../domain/debit.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import type { Submission, SubmissionResult } from '../domain/submission.ts'
import { BankReference, rejected, rejection, saidIn } from './answer.ts'
import type { Connector, Reach } from './connector.ts'
import type { Answer } from './exchange.ts'
import { handOver } from './hand-over.ts'

/**
 * A bank with an endpoint of its own that speaks our protocol (docs/bank-protocol.md). Only a
 * well-formed answer says that a debit was accepted or rejected. Everything else is not known: it
 * is asked for when the message comes again, until an answer or the ten-minute clock decides.
 */
export const httpConnector = (reach: Reach): Connector => ({
  submit: async (submission) => {
    const { bank, uuid, repeated } = submission
    const body = bodyOf(submission)
    return resultOf(await handOver(bank, { path: '/submissions', uuid, repeated, body }, reach))
  },
})

const bodyOf = (submission: Submission) => ({
  uuid: submission.uuid,
  reference: submission.reference,
  phone_number: submission.phone,
  account_number: submission.account?.accountNumber,
  amount: formatAmount(submission.amount),
  currency: CURRENCY,
  narration: submission.narration,
  // The debit's own time, so that a repeat has the same bytes.
  timestamp: submission.createdAt.toISOString(),
})

const PUBLISHED = [
  'insufficient_funds',
  'invalid_account',
  'transaction_declined',
  'timeout',
  'network_error',
] as const satisfies FailureCode[]

const answers = {
  bodies: v.variant('status', [
    v.object({ status: v.literal('accepted'), bank_reference: BankReference }),
    v.object({
      ...rejection,
      code: v.pipe(
        v.string(),
        v.transform(
          (code): FailureCode => PUBLISHED.find((one) => one === code) ?? 'unknown_error',
        ),
      ),
    }),
  ]),
  statuses: { accepted: [200, 202], rejected: [200, 422] },
}

const resultOf = (answer: Answer): SubmissionResult => {
  const said = saidIn(answer, answers)
  return said.status === 'accepted'
    ? { kind: 'accepted', bankReference: said.bank_reference }
    : { ...rejected(said), code: said.code }
}
