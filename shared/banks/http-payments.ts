import * as v from 'valibot'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import { noneRemain } from '../domain/complete.ts'
import { BankReference } from '../domain/debits/bank-update.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import type { Payout, PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'
import type { ConnectionConfig, PaymentConnector } from './connector.ts'
import { type BankResponse, postIdempotently } from './request.ts'
import { type Echoed, echo, parseResponse, rejected, rejection } from './response.ts'

/** Pays and refunds over HTTP (docs/bank-protocol.md#settlement, docs/bank-protocol.md#refund). */
export const httpPayments = (config: ConnectionConfig): PaymentConnector => {
  const send = async (
    bank: BankIdentifier,
    path: '/settlements' | '/refunds',
    payment: Payout | RefundPayment,
    body: object,
  ): Promise<PayoutResult> => {
    const { uuid, repeated } = payment
    const response = await postIdempotently(bank, { path, uuid, repeated, body }, config)
    return payoutResult(response, payment)
  }
  return {
    pay: (payout) => send(payout.account.bank, '/settlements', payout, payoutBody(payout)),
    refund: (refund) => send(refund.bank, '/refunds', refund, refundBody(refund)),
  }
}

const refundBody = ({ bank: _, repeated: _repeated, ...refund }: RefundPayment) => {
  const { uuid, debitUuid, debitBankReference, accountNumber, amount, ...rest } = refund
  const { reason, createdAt, ...others } = rest
  noneRemain(others)
  return {
    uuid,
    debit_uuid: debitUuid,
    bank_reference: debitBankReference,
    account_number: accountNumber,
    amount: formatAmount(amount),
    currency: CURRENCY,
    reason,
    timestamp: createdAt.toISOString(),
  }
}

/** The same bytes in every repeat. */
const payoutBody = ({ repeated: _, account, ...payout }: Payout) => {
  const { uuid, batch, provider, amount, currency, date, ...others } = payout
  const { bank: _bank, accountNumber, accountName, ...otherParts } = account
  noneRemain(others)
  noneRemain(otherParts)
  return {
    uuid,
    batch,
    // The published name.
    partner: provider,
    account_number: accountNumber,
    account_name: accountName,
    amount: formatAmount(amount),
    currency,
    date,
  }
}

const responsesTo = (payment: Echoed) => ({
  bodies: v.variant('status', [
    v.object({ ...echo(payment), status: v.literal('paid'), bank_reference: BankReference }),
    v.object({ ...echo(payment), status: v.literal('underway') }),
    v.object({ ...echo(payment), ...rejection }),
  ]),
  statuses: { paid: [200, 201, 202], underway: [200, 201, 202], rejected: [200, 422] },
})

/** @throws ConnectorFault for a response that decides nothing */
export const payoutResult = (response: BankResponse, payment: Echoed): PayoutResult => {
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
