import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findHealth } from '../store/webhooks/health.ts'
import { findWebhook } from '../store/webhooks/webhooks.ts'
import { attemptDelivery } from './attempt.ts'
import { findEvents } from './find-events.ts'

/** Consecutive events of one debit or batch, and the number of the attempt at each. */
type EventRange = { reference: Reference; n: number; through?: number | undefined; attempt: number }

/** Attempts each event in order. @returns the provider whose remaining events must be sidelined */
export const deliverEvents = async (
  { reference, n, through = n, attempt }: EventRange,
  { unlessSlow }: { unlessSlow: boolean },
  runtime: Runtime,
): Promise<{ provider: ProviderId } | undefined> => {
  const events = (await findEvents([reference])).filter(
    (event) => event.n >= n && event.n <= through,
  )
  const [first] = events
  // A retry would not help: debits and batches are never deleted.
  if (!first) {
    log.error('event not found', { reference, n })
    return undefined
  }
  const { provider } = first
  const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
  if (webhook && health.slowSince && unlessSlow) return { provider }
  const request = { number: attempt, webhook, health, unlessSlow }
  for (const event of events) {
    const { kind } = await attemptDelivery({ ...request, event }, runtime)
    // The next worker skips recorded attempts.
    if (kind === 'aborted') return { provider }
    if (kind === 'slow' && unlessSlow && event.n < through) return { provider }
  }
  return undefined
}
