import type { PartnerId } from '../domain/partner.ts'
import type { Reference } from '../domain/reference.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebit } from '../store/debits.ts'
import { findHealth } from '../store/webhook-health.ts'
import { findWebhook } from '../store/webhooks.ts'
import { attemptDelivery } from './attempt.ts'

/** The events of one debit that a message asks for, and the attempt it asks for at each. */
type Asked = { reference: Reference; n: number; through?: number | undefined; attempt: number }

/**
 * Attempts each in turn.
 * @param unlessSlow whether the events of a slow receiver are left to others
 * @returns the partner whose events were left
 */
export const deliverEvents = async (
  { reference, n, through = n, attempt }: Asked,
  { unlessSlow }: { unlessSlow: boolean },
  runtime: Runtime,
): Promise<{ partner: PartnerId } | undefined> => {
  const debit = await findDebit(reference)
  // No repeat will find it: debits are never deleted.
  if (!debit) {
    log.error('event of an unknown debit', { reference, n })
    return undefined
  }
  const { partner } = debit.facts
  const [webhook, health] = await Promise.all([findWebhook(partner), findHealth(partner)])
  if (webhook && health.slowSince && unlessSlow) return { partner }
  const wanted = { debit, number: attempt, webhook, health, unlessSlow }
  for (let event = n; event <= through; event += 1) {
    const came = await attemptDelivery({ ...wanted, n: event }, runtime)
    // Whoever takes them up passes over those that are on record.
    if (came === 'left') return { partner }
    if (came === 'done slowly' && unlessSlow && event < through) return { partner }
  }
  return undefined
}
