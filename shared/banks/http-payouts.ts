import * as v from 'valibot'
import { BankReference } from '../domain/debits/bank-update.ts'
import type { Uuid } from '../domain/ids.ts'
import { CURRENCY, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Payout, PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'
import type { ConnectionConfig, Connector } from './connector.ts'
import { postIdempotently } from './idempotent-post.ts'
import type { PayoutConnector } from './payout-connector.ts'
import type { BankResponse } from './request.ts'
import { echo, parseResponse, rejected, rejection } from './response.ts'

/**
 * Payments by a bank with an endpoint of its own (docs/bank-protocol.md, Settlement). Only a
 * well-formed answer says that it paid or never will; everything else is asked for again.
 */
export const httpPayouts = (reach: ConnectionConfig): PayoutConnector => ({
  pay: async (instruction) => {
    const { account, uuid, repeated } = instruction
    const payment = { path: '/settlements', uuid, repeated, body: bodyOf(instruction) } as const
    return resultOf(await postIdempotently(account.bank, payment, reach), instruction)
  },
})

/** Refunds by such a bank (docs/bank-protocol.md, Refunds), with the replies of a payment. */
export const httpRefund =
  (reach: ConnectionConfig): NonNullable<Connector['refund']> =>
  async (instruction) => {
    const { bank, uuid, repeated } = instruction
    const refund = { path: '/refunds', uuid, repeated, body: refundBody(instruction) } as const
    return resultOf(await postIdempotently(bank, refund, reach), instruction)
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
const bodyOf = ({ uuid, batch, provider, account, amount, currency, date }: Payout) => ({
  uuid,
  batch,
  provider,
  account_number: account.accountNumber,
  account_name: account.accountName,
  amount: formatAmount(amount),
  currency,
  date,
})

type Identified = { uuid: Uuid; amount: Pesewas }

const answersTo = (instruction: Identified) => ({
  bodies: v.variant('status', [
    v.object({
      ...echo(instruction),
      status: v.literal('paid'),
      bank_reference: BankReference,
    }),
    v.object({ ...echo(instruction), status: v.literal('underway') }),
    v.object({ ...echo(instruction), ...rejection }),
  ]),
  statuses: { paid: [200, 201, 202], underway: [200, 201, 202], rejected: [200, 422] },
})

const resultOf = (answer: BankResponse, instruction: Identified): PayoutResult => {
  const said = parseResponse(answer, answersTo(instruction))
  switch (said.status) {
    case 'paid':
      return { kind: 'paid', bankReference: said.bank_reference }
    case 'underway':
      return { kind: 'underway' }
    case 'rejected':
      return rejected(said)
  }
}
