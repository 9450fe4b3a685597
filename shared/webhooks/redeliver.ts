import { Refusal } from '../domain/refusal.ts'
import {
  isRedelivering,
  isSubscribed,
  newDelivery,
  redeliver,
} from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { webhookDisabled } from '../domain/webhooks/health.ts'
import type { Runtime } from '../runtime.ts'
import { optimistically } from '../store/optimistic.ts'
import { findDelivery, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { findHealth } from '../store/webhooks/health.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'

/**
 * Requests one more attempt at an event; the relay enqueues it (docs/api.md#redelivery). Requests
 * within a minute, before the attempt is recorded, count as one.
 * @returns the record; 4404 without a webhook, 4403 without a subscription, 1409 if disabled
 */
export const requestRedelivery = async (event: ProviderEvent, runtime: Pick<Runtime, 'now'>) => {
  const { reference, n, provider } = event
  const [webhook, health] = await Promise.all([findWebhookSettings(provider), findHealth(provider)])
  if (!webhook) return new Refusal(4404)
  if (!isSubscribed(webhook, event.type)) return new Refusal(4403)
  if (health.disabledAt) return webhookDisabled()
  return optimistically(`The delivery of event ${n} of ${reference}`, async () => {
    const current = await findDelivery(reference, n)
    const at = runtime.now()
    if (current && isRedelivering(current, at)) return current
    const next = redeliver(current ?? newDelivery(event, webhook), at)
    return (await replaceDelivery(current, next)) ? next : undefined
  })
}
