import * as v from 'valibot'
import { BankReference } from '../domain/debits/bank-update.ts'
import type { Uuid } from '../domain/ids.ts'
import { CURRENCY, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Payout, PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'
import type { ConnectionConfig, Connector, PayoutConnector } from './connector.ts'
import { postIdempotently } from './idempotent-post.ts'
import type { BankResponse } from './request.ts'
import { echo, parseResponse, rejected, rejection } from './response.ts'

/** Pays providers over HTTP (docs/bank-protocol.md#settlement). */
export const httpPayouts = (config: ConnectionConfig): PayoutConnector => ({
  pay: async (payout) => {
    const { account, uuid, repeated } = payout
    const post = { path: '/settlements', uuid, repeated, body: payoutBody(payout) } as const
    return resultOf(await postIdempotently(account.bank, post, config), payout)
  },
})

/** Refunds customers over HTTP, with the responses of a payout (docs/bank-protocol.md#refund). */
export const httpRefund =
  (config: ConnectionConfig): NonNullable<Connector['refund']> =>
  async (refund) => {
    const { bank, uuid, repeated } = refund
    const post = { path: '/refunds', uuid, repeated, body: refundBody(refund) } as const
    return resultOf(await postIdempotently(bank, post, config), refund)
  }

const refundBody = (refund: RefundPayment) => ({
  uuid: refund.uuid,
  debit_uuid: refund.debitUuid,
  bank_reference: refund.debitBankReference,
  account_number: refund.accountNumber,
  amount: formatAmount(refund.amount),
  currency: CURRENCY,
  reason: refund.reason,
  timestamp: refund.createdAt.toISOString(),
})

/** The same bytes in every repeat. */
const payoutBody = ({ uuid, batch, provider, account, amount, currency, date }: Payout) => ({
  uuid,
  batch,
  // The published name.
  partner: provider,
  account_number: account.accountNumber,
  account_name: account.accountName,
  amount: formatAmount(amount),
  currency,
  date,
})

type Payment = { uuid: Uuid; amount: Pesewas }

const responsesTo = (payment: Payment) => ({
  bodies: v.variant('status', [
    v.object({
      ...echo(payment),
      status: v.literal('paid'),
      bank_reference: BankReference,
    }),
    v.object({ ...echo(payment), status: v.literal('underway') }),
    v.object({ ...echo(payment), ...rejection }),
  ]),
  statuses: { paid: [200, 201, 202], underway: [200, 201, 202], rejected: [200, 422] },
})

const resultOf = (response: BankResponse, payment: Payment): PayoutResult => {
  const reply = parseResponse(response, responsesTo(payment))
  switch (reply.status) {
    case 'paid':
      return { kind: 'paid', bankReference: reply.bank_reference }
    case 'underway':
      return { kind: 'underway' }
    case 'rejected':
      return rejected(reply)
  }
}
