import type { PayoutResult } from '../domain/settlement/payout.ts'

/**
 * Asks the banks about all payments that they rejected, before a further one: a bank can make a payment
 * after all.
 * @returns one that its bank has paid, else one that its bank is processing
 * @throws ConnectorFault if a bank gives no usable reply
 */
export const findRevived = async <P>(
  rejected: readonly P[],
  query: (payment: P) => Promise<PayoutResult | undefined>,
) => {
  const replies = await Promise.all(
    rejected.map(async (payment) => ({ payment, kind: (await query(payment))?.kind })),
  )
  for (const kind of ['paid', 'underway'] as const) {
    const revived = replies.find((reply) => reply.kind === kind)
    if (revived) return { payment: revived.payment, kind }
  }
  return undefined
}
