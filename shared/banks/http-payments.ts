import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Payout, PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'
import type { ConnectionConfig, PaymentConnector, PaymentKind } from './connector.ts'
import { paymentReplies } from './replies.ts'
import { type BankResponse, NOT_RECEIVED, postIdempotently, queryBank } from './request.ts'
import { payoutBody, refundBody } from './request-bodies.ts'
import { type Echoed, echo, parseResponse, rejected } from './response.ts'

const PATHS = { payout: '/settlements', refund: '/refunds' } as const satisfies Record<
  PaymentKind,
  string
>

/** Pays and refunds over HTTP (docs/bank-protocol.md#settlement, docs/bank-protocol.md#refund). */
export const httpPayments = (config: ConnectionConfig): PaymentConnector => {
  const send = async (
    bank: BankIdentifier,
    kind: PaymentKind,
    payment: Payout | RefundPayment,
    body: object,
  ): Promise<PayoutResult> => {
    const { uuid, repeated } = payment
    const response = await postIdempotently(
      bank,
      { path: PATHS[kind], uuid, repeated, body },
      config,
    )
    return payoutResult(response, payment)
  }
  return {
    pay: (payout) => send(payout.account.bank, 'payout', payout, payoutBody(payout)),
    refund: (refund) => send(refund.bank, 'refund', refund, refundBody(refund)),
    query: async ({ kind, bank, ...payment }) => {
      const response = await queryBank(bank, `${PATHS[kind]}/${payment.uuid}`, config)
      return response.status === NOT_RECEIVED ? undefined : payoutResult(response, payment)
    },
  }
}

/** @throws ConnectorFault for a response that decides nothing */
export const payoutResult = (response: BankResponse, payment: Echoed): PayoutResult => {
  const reply = parseResponse(response, paymentReplies(echo(payment)))
  switch (reply.status) {
    case 'paid':
      return { kind: 'paid', bankReference: reply.bank_reference }
    case 'underway':
      return { kind: 'underway' }
    case 'rejected':
      return rejected(reply)
  }
}
