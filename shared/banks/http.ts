import * as v from 'valibot'
import { failureCode, failureCodes } from '../domain/banks/failure-code.ts'
import { noneRemain } from '../domain/complete.ts'
import { BankApproval, BankReference, ErrorMessage } from '../domain/debits/bank-update.ts'
import type { BankOutcome, Submission, SubmissionResult } from '../domain/debits/submission.ts'
import { CURRENCY, Fee, formatAmount } from '../domain/money.ts'
import type { ConnectionConfig, Connector } from './connector.ts'
import { type BankResponse, NOT_RECEIVED, postIdempotently, queryBank } from './request.ts'
import { type Echoed, echo, parseResponse, rejected, rejection } from './response.ts'

/**
 * Submits debits over HTTP (docs/bank-protocol.md). Only a well-formed response decides. Any other
 * result is unknown: the service queries the bank when SQS redelivers, until the 10-minute timeout.
 */
export const httpConnector = (config: ConnectionConfig): Required<Connector> => ({
  submit: async (submission) => {
    const { bank, uuid, repeated } = submission
    const post = { path: '/submissions', uuid, repeated, body: bodyOf(submission) } as const
    return submissionResult(await postIdempotently(bank, post, config), submission)
  },
  queryOutcome: async (debit) => {
    const response = await queryBank(debit.bank, `/submissions/${debit.uuid}`, config)
    if (response.status === NOT_RECEIVED) return undefined
    const reply = parseResponse(response, responsesTo(debit))
    return reply.status === 'completed' || reply.status === 'failed' ? outcomeOf(reply) : undefined
  },
})

const bodyOf = ({ bank: _, repeated: _repeated, ...submission }: Submission) => {
  const { uuid, reference, phone, account, amount, narration, createdAt, ...others } = submission
  noneRemain(others)
  return {
    uuid,
    reference,
    phone_number: phone,
    account_number: account?.accountNumber,
    amount: formatAmount(amount),
    currency: CURRENCY,
    narration,
    // Not the current time: a repeat has the same bytes.
    timestamp: createdAt.toISOString(),
  }
}

const Code = v.pipe(v.string(), v.fallback(v.picklist(failureCodes), 'unknown_error'))

// Drops a malformed detail, so that it never hides that the customer was debited.
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

const responsesTo = (debit: Echoed) => ({
  bodies: v.variant('status', [
    v.object({ ...echo(debit), status: v.literal('accepted'), bank_reference: BankReference }),
    v.object({ ...echo(debit), ...rejection, code: Code }),
    v.object({ ...echo(debit), ...Completed.entries }),
    v.object({ ...echo(debit), ...Failed.entries }),
  ]),
  statuses: { accepted: [200, 202], rejected: [200, 422], completed: [200], failed: [200] },
})

/** @throws ConnectorFault for a response that decides nothing */
export const submissionResult = (response: BankResponse, submission: Echoed): SubmissionResult => {
  const reply = parseResponse(response, responsesTo(submission))
  switch (reply.status) {
    case 'accepted':
      return { kind: 'accepted', bankReference: reply.bank_reference }
    case 'rejected':
      return { ...rejected(reply), code: reply.code }
    default:
      return outcomeOf(reply)
  }
}

type FinalReply = v.InferOutput<typeof Completed> | v.InferOutput<typeof Failed>

const outcomeOf = (reply: FinalReply): BankOutcome => {
  if (reply.status === 'completed') {
    return {
      kind: 'completed',
      bankReference: reply.bank_reference,
      ...(typeof reply.fee === 'number' ? { fee: reply.fee } : {}),
      ...(reply.approval_method ? { approvalMethod: reply.approval_method } : {}),
    }
  }
  const message = reply.message ?? 'The bank failed the debit'
  return { ...rejected({ ...reply, message }), code: reply.code ?? failureCode(message) }
}
