import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findHealth } from '../store/webhooks/health.ts'
import { findWebhook } from '../store/webhooks/webhooks.ts'
import { attemptDelivery } from './attempt.ts'
import { findEvents } from './find-events.ts'

/** The events of one debit or batch that a message asks for, and the attempt it asks for at each. */
type Asked = { reference: Reference; n: number; through?: number | undefined; attempt: number }

/**
 * Attempts each in turn.
 * @param unlessSlow whether the events of a slow receiver are left to others
 * @returns the provider whose events were left
 */
export const deliverEvents = async (
  { reference, n, through = n, attempt }: Asked,
  { unlessSlow }: { unlessSlow: boolean },
  runtime: Runtime,
): Promise<{ provider: ProviderId } | undefined> => {
  const events = (await findEvents([reference])).filter((one) => one.n >= n && one.n <= through)
  const [first] = events
  // No repeat will find it: what has events is never deleted.
  if (!first) {
    log.error('event not found', { reference, n })
    return undefined
  }
  const { provider } = first
  const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
  if (webhook && health.slowSince && unlessSlow) return { provider }
  const wanted = { number: attempt, webhook, health, unlessSlow }
  for (const event of events) {
    const came = await attemptDelivery({ ...wanted, event }, runtime)
    // The next worker skips the events that are on record.
    if (came === 'left') return { provider }
    if (came === 'done slowly' && unlessSlow && event.n < through) return { provider }
  }
  return undefined
}
