import { failureCode } from '../domain/banks/failure-code.ts'
import type { BankOutcome, SubmissionReply } from '../domain/debits/submission.ts'
import { type ConnectionConfig, type Connector, ConnectorFault } from './connector.ts'
import { debitReplies } from './replies.ts'
import { type BankResponse, earlierResponse, NOT_RECEIVED, postOnce, queryBank } from './request.ts'
import { submissionBody } from './request-bodies.ts'
import { type Echoed, echo, parseResponse, rejected } from './response.ts'

/**
 * Submits debits over HTTP (docs/bank-protocol.md). Only a well-formed response decides. Any other
 * result is unknown: the service queries the bank when SQS redelivers, until the 10-minute timeout.
 */
export const httpConnector = (config: ConnectionConfig): Required<Connector> => ({
  submit: async (submission, mayPrompt) => {
    const { bank, uuid, repeated } = submission
    const post = { path: '/submissions', uuid, repeated, body: submissionBody(submission) } as const
    const earlier = await earlierResponse(bank, post, config)
    if (!earlier && !(await mayPrompt())) return { kind: 'unprompted' }
    return submissionResult(earlier ?? (await postOnce(bank, post, config)), submission)
  },
  queryOutcome: async (debit) => {
    const response = await queryBank(debit.bank, `/submissions/${debit.uuid}`, config)
    if (response.status === NOT_RECEIVED) return undefined
    const reply = replyTo(debit, response)
    return reply.status === 'completed' || reply.status === 'failed' ? outcomeOf(reply) : undefined
  },
  probe: async (bank) => {
    const { status } = await queryBank(bank, `/submissions/${UNKNOWN}`, config)
    // A bank that knows each uuid would otherwise stay down.
    if (status !== NOT_RECEIVED && status !== 200) throw new ConnectorFault(2001, `HTTP ${status}`)
  },
})

/** No debit has this uuid. */
export const UNKNOWN = '00000000-0000-0000-0000-000000000000'

const replyTo = (debit: Echoed, response: BankResponse) =>
  parseResponse(response, debitReplies(echo(debit)))

/** @throws ConnectorFault for a response that decides nothing */
export const submissionResult = (response: BankResponse, submission: Echoed): SubmissionReply => {
  const reply = replyTo(submission, response)
  switch (reply.status) {
    case 'accepted':
      return { kind: 'accepted', bankReference: reply.bank_reference }
    case 'rejected':
      return { ...rejected(reply), code: reply.code }
    default:
      return outcomeOf(reply)
  }
}

type FinalReply = Extract<ReturnType<typeof replyTo>, { status: 'completed' | 'failed' }>

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
  const code = reply.code ?? failureCode(message)
  return { ...rejected({ ...reply, message }), kind: 'failed', code }
}
