import * as v from 'valibot'
import {
  BankApproval,
  BankReference,
  ErrorMessage,
  failureCode,
} from '../domain/debits/bank-update.ts'
import type { FailureCode } from '../domain/debits/debit.ts'
import type {
  BankOutcome,
  DebitAtBank,
  Submission,
  SubmissionResult,
} from '../domain/debits/submission.ts'
import { CURRENCY, Fee, formatAmount } from '../domain/money.ts'
import type { ConnectionConfig, Connector } from './connector.ts'
import { httpRefund } from './http-payouts.ts'
import { NOT_RECEIVED, postIdempotently, queryBank } from './idempotent-post.ts'
import type { BankResponse } from './request.ts'
import { echo, parseResponse, rejected, rejection } from './response.ts'

/**
 * A bank with an endpoint of its own that speaks our protocol (docs/bank-protocol.md). Only a
 * well-formed answer says that a debit was accepted or rejected. Everything else is not known: it
 * is asked for when the message comes again, until an answer or the ten-minute clock decides.
 */
export const httpConnector = (reach: ConnectionConfig): Required<Connector> => ({
  submit: async (submission) => {
    const { bank, uuid, repeated } = submission
    const body = bodyOf(submission)
    const answer = await postIdempotently(
      bank,
      { path: '/submissions', uuid, repeated, body },
      reach,
    )
    return resultOf(answer, submission)
  },
  queryOutcome: async (debit) => {
    const answer = await queryBank(debit.bank, `/submissions/${debit.uuid}`, reach)
    if (answer.status === NOT_RECEIVED) return undefined
    const said = parseResponse(answer, answersTo(debit))
    return said.status === 'completed' || said.status === 'failed' ? outcomeOf(said) : undefined
  },
  refund: httpRefund(reach),
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

const Code = v.pipe(
  v.string(),
  v.transform((code): FailureCode => PUBLISHED.find((one) => one === code) ?? 'unknown_error'),
)

// A completed debit is a fact about a customer's money. A detail of it that cannot be read is left
// out, so that it does not hide the fact.
const Detail = <S extends v.GenericSchema>(schema: S) => v.fallback(v.nullish(schema), null)

const NumberOrText = v.pipe(v.union([v.number(), v.string()]), v.transform(String))

const Completed = v.object({
  status: v.literal('completed'),
  bank_reference: BankReference,
  fee: Detail(v.pipe(NumberOrText, Fee)),
  approval_method: Detail(BankApproval),
})

const Failed = v.object({
  status: v.literal('failed'),
  bank_reference: Detail(BankReference),
  code: Detail(Code),
  message: Detail(v.pipe(ErrorMessage, v.nonEmpty())),
})

const answersTo = (debit: DebitAtBank) => ({
  bodies: v.variant('status', [
    v.object({
      ...echo(debit),
      status: v.literal('accepted'),
      bank_reference: BankReference,
    }),
    v.object({ ...echo(debit), ...rejection, code: Code }),
    v.object({ ...echo(debit), ...Completed.entries }),
    v.object({ ...echo(debit), ...Failed.entries }),
  ]),
  statuses: { accepted: [200, 202], rejected: [200, 422], completed: [200], failed: [200] },
})

const resultOf = (answer: BankResponse, submission: Submission): SubmissionResult => {
  const said = parseResponse(answer, answersTo(submission))
  switch (said.status) {
    case 'accepted':
      return { kind: 'accepted', bankReference: said.bank_reference }
    case 'rejected':
      return { ...rejected(said), code: said.code }
    default:
      return outcomeOf(said)
  }
}

type Outcome = v.InferOutput<typeof Completed> | v.InferOutput<typeof Failed>

const outcomeOf = (said: Outcome): BankOutcome => {
  if (said.status === 'completed') {
    return {
      kind: 'completed',
      bankReference: said.bank_reference,
      ...(typeof said.fee === 'number' ? { fee: said.fee } : {}),
      ...(said.approval_method ? { approvalMethod: said.approval_method } : {}),
    }
  }
  const message = said.message ?? 'The bank failed the debit'
  return { ...rejected({ ...said, message }), code: said.code ?? failureCode(message) }
}
