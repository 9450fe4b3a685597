import * as v from 'valibot'
import { failureCodes } from '../../shared/domain/banks/failure-code.ts'
import {
  BankApproval,
  BankReference,
  ErrorMessage,
} from '../../shared/domain/debits/bank-update.ts'
import { BatchId, Reference, Uuid } from '../../shared/domain/ids.ts'
import { CURRENCY } from '../../shared/domain/money.ts'
import { Day } from '../../shared/domain/time.ts'
import { AmountText, NullableText, named, Phone, Time } from '../../shared/views/fields.ts'

/** The requests to banks and their replies, with examples (docs/bank-protocol.md). */

export const UUID = '85cb9470-fd1a-4344-b945-18a86d2efeac'
const AMOUNT = '100.00'

const echo = { uuid: Uuid, amount: AmountText }
const Message = v.pipe(ErrorMessage, v.nonEmpty())
const money = { amount: AmountText, currency: v.literal(CURRENCY) }

const reply = <const S extends string>(name: string, status: S, entries: v.ObjectEntries) =>
  named(name, v.object({ status: v.literal(status), ...echo, ...entries }))

const rejected = reply('Rejected', 'rejected', {
  message: Message,
  bank_reference: v.nullish(BankReference),
})

/** The replies by name: their schema, HTTP statuses and an example. */
export const replies = {
  accepted: {
    schema: reply('Accepted', 'accepted', { bank_reference: BankReference }),
    statuses: [200, 202],
    example: { bank_reference: 'XYZ-1' },
  },
  rejectedDebit: {
    schema: reply('RejectedDebit', 'rejected', {
      code: v.picklist(failureCodes),
      message: Message,
      bank_reference: v.nullish(BankReference),
    }),
    statuses: [200, 422],
    example: { code: 'insufficient_funds', message: 'Insufficient funds' },
  },
  completed: {
    schema: reply('Completed', 'completed', {
      bank_reference: BankReference,
      fee: v.nullish(AmountText),
      approval_method: v.nullish(BankApproval),
    }),
    statuses: [200],
    example: { bank_reference: 'XYZ-1', fee: '1.50', approval_method: 'ussd' },
  },
  failed: {
    schema: reply('Failed', 'failed', {
      code: v.nullish(v.picklist(failureCodes)),
      message: v.nullish(Message),
      bank_reference: v.nullish(BankReference),
    }),
    statuses: [200],
    example: { code: 'transaction_declined', message: 'Declined by customer' },
  },
  paid: {
    schema: reply('Paid', 'paid', { bank_reference: BankReference }),
    statuses: [200, 201, 202],
    example: { bank_reference: 'XYZ-7' },
  },
  underway: { schema: reply('Underway', 'underway', {}), statuses: [200, 201, 202], example: {} },
  rejected: { schema: rejected, statuses: [200, 422], example: { message: 'No such account' } },
} satisfies Record<string, { schema: v.GenericSchema; statuses: number[]; example: object }>

export type ReplyName = keyof typeof replies

/** Returns the example of a reply, to the example of a request. */
export const exampleOf = (name: ReplyName) => {
  const status = name === 'rejectedDebit' ? 'rejected' : name
  return { status, uuid: UUID, amount: AMOUNT, ...replies[name].example }
}

export const exchangeTags = {
  Debits: 'Debits of customers, on behalf of providers',
  Payouts: 'Payouts of settlement batches to providers',
  Refunds: 'Refunds of debits to customers',
}

export type BankExchange = {
  id: string
  tag: keyof typeof exchangeTags
  summary: string
  query: string
  body: v.GenericSchema
  example: object
  replies: readonly ReplyName[]
  queryReplies: readonly ReplyName[]
}

export const exchanges: Record<string, BankExchange> = {
  '/submissions': {
    id: 'submitDebit',
    tag: 'Debits',
    summary: 'Submit a debit',
    query: 'queryDebit',
    body: named(
      'Submission',
      v.object({
        uuid: Uuid,
        reference: Reference,
        phone_number: Phone,
        account_number: v.optional(v.string()),
        ...money,
        narration: v.string(),
        timestamp: Time,
      }),
    ),
    example: {
      uuid: UUID,
      reference: 'DCS-20261121-ABC123',
      phone_number: '+233241234567',
      account_number: '1041001001',
      amount: AMOUNT,
      currency: CURRENCY,
      narration: 'Order 1',
      timestamp: '2026-11-21T12:00:00.000Z',
    },
    replies: ['accepted', 'rejectedDebit'],
    queryReplies: ['accepted', 'rejectedDebit', 'completed', 'failed'],
  },
  '/settlements': {
    id: 'payProvider',
    tag: 'Payouts',
    summary: 'Pay a settlement batch to a provider',
    query: 'queryPayment',
    body: named(
      'Payment',
      v.object({
        uuid: Uuid,
        batch: BatchId,
        partner: v.string(),
        account_number: v.string(),
        account_name: v.string(),
        ...money,
        date: Day,
      }),
    ),
    example: {
      uuid: UUID,
      batch: 'STL-20261122-ABC123',
      partner: 'demo',
      account_number: '1041001001',
      account_name: 'Demo Payments Ltd',
      amount: AMOUNT,
      currency: CURRENCY,
      date: '2026-11-22',
    },
    replies: ['paid', 'underway', 'rejected'],
    queryReplies: ['paid', 'underway', 'rejected'],
  },
  '/refunds': {
    id: 'refundCustomer',
    tag: 'Refunds',
    summary: 'Refund a debit to the customer',
    query: 'queryRefund',
    body: named(
      'RefundOrder',
      v.object({
        uuid: Uuid,
        debit_uuid: Uuid,
        bank_reference: NullableText,
        account_number: NullableText,
        ...money,
        reason: v.string(),
        timestamp: Time,
      }),
    ),
    example: {
      uuid: UUID,
      debit_uuid: '4d3c4281-94e9-44f3-9a08-f58f8bbaba3e',
      bank_reference: 'XYZ-1',
      account_number: '1041001001',
      amount: AMOUNT,
      currency: CURRENCY,
      reason: 'Goods returned',
      timestamp: '2026-11-23T01:00:00.000Z',
    },
    replies: ['paid', 'underway', 'rejected'],
    queryReplies: ['paid', 'underway', 'rejected'],
  },
}
