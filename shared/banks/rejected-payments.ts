import type { PayoutResult } from '../domain/settlement/payout.ts'

/**
 * Queries the banks about all payments that they rejected, before another is sent: a bank can make one later.
 * @returns one that its bank has paid, else one that its bank is processing
 * @throws ConnectorFault if a bank gives no usable reply
 */
export const findMadeLater = async <P>(
  rejected: readonly P[],
  query: (payment: P) => Promise<PayoutResult | undefined>,
) => {
  const replies = await Promise.all(
    rejected.map(async (payment) => ({ payment, kind: (await query(payment))?.kind })),
  )
  for (const kind of ['paid', 'underway'] as const) {
    const made = replies.find((reply) => reply.kind === kind)
    if (made) return { payment: made.payment, kind }
  }
  return undefined
}
