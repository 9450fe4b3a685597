import type * as v from 'valibot'
import { debitReplies, paymentReplies } from '../../shared/banks/replies.ts'
import * as request from '../../shared/banks/request-bodies.ts'
import type { Complete } from '../../shared/domain/complete.ts'
import { Uuid } from '../../shared/domain/ids.ts'
import { AmountText, named } from '../../shared/views/fields.ts'
import { examplePayout, exampleRefund, exampleSubmission } from './example-debit.ts'

/** The requests to banks and their replies, with examples (docs/bank-protocol.md). */

const echo = { uuid: Uuid, amount: AmountText }
const debit = debitReplies(echo)
const payment = paymentReplies(echo)

type DescribedReply = { statuses: number[]; body: v.GenericSchema<{ status: string }> }

/** The members of a reply that do not repeat its request. */
type Own<R extends DescribedReply> = Complete<
  Omit<v.InferInput<R['body']>, 'status' | keyof typeof echo>
>

const described = <R extends DescribedReply>(
  name: string,
  { statuses, body }: R,
  example: Own<R>,
) => ({ schema: named(name, body), statuses, example })

/** The replies by name: their schema, HTTP statuses and an example. */
export const replies = {
  accepted: described('Accepted', debit.accepted, { bank_reference: 'XYZ-1' }),
  rejectedDebit: described('RejectedDebit', debit.rejected, {
    code: 'insufficient_funds',
    message: 'Insufficient funds',
    bank_reference: 'XYZ-1',
  }),
  completed: described('Completed', debit.completed, {
    bank_reference: 'XYZ-1',
    fee: '1.50',
    approval_method: 'ussd',
  }),
  failed: described('Failed', debit.failed, {
    code: 'transaction_declined',
    message: 'Declined by customer',
    bank_reference: 'XYZ-1',
  }),
  paid: described('Paid', payment.paid, { bank_reference: 'XYZ-7' }),
  underway: described('Underway', payment.underway, {}),
  rejected: described('Rejected', payment.rejected, {
    message: 'No such account',
    bank_reference: 'XYZ-7',
  }),
} satisfies Record<keyof typeof debit | keyof typeof payment | 'rejectedDebit', unknown>

export type ReplyName = keyof typeof replies

/** Returns the example of a reply to a request. */
export const exampleOf = (name: ReplyName, { uuid, amount }: IdentifiedRequest) => {
  const status = name === 'rejectedDebit' ? 'rejected' : name
  return { status, uuid, amount, ...replies[name].example }
}

type IdentifiedRequest = { uuid: string; amount: string }

export const exchangeTags = {
  Debits: 'Debits of customers, on behalf of providers',
  Payouts: 'Payouts of settlement batches to providers',
  Refunds: 'Refunds of debits to customers',
  Accounts: 'Accounts of phone numbers',
}

export type BankExchange = {
  id: string
  tag: keyof typeof exchangeTags
  summary: string
  query: string
  body: v.GenericSchema
  example: IdentifiedRequest
  /** The replies to the request and to its query. */
  replies: readonly ReplyName[]
}

const debitNames = ['accepted', 'rejectedDebit', 'completed', 'failed'] as const
const paymentNames = ['paid', 'underway', 'rejected'] as const

export const exchanges = {
  '/submissions': {
    id: 'submitDebit',
    tag: 'Debits',
    summary: 'Submit a debit',
    query: 'queryDebit',
    body: named('Submission', request.submissionSchema()),
    example: request.submissionBody(exampleSubmission),
    replies: debitNames,
  },
  '/settlements': {
    id: 'payProvider',
    tag: 'Payouts',
    summary: 'Pay a settlement batch to a provider',
    query: 'queryPayment',
    body: named('Payment', request.payoutSchema()),
    example: request.payoutBody(examplePayout),
    replies: paymentNames,
  },
  '/refunds': {
    id: 'refundCustomer',
    tag: 'Refunds',
    summary: 'Refund a debit to the customer',
    query: 'queryRefund',
    body: named('RefundOrder', request.refundOrderSchema()),
    example: request.refundBody(exampleRefund),
    replies: paymentNames,
  },
} satisfies Record<string, BankExchange>
