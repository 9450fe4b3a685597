import { Refusal } from '../domain/refusal.ts'
import {
  type Delivery,
  isRedelivering,
  isSubscribed,
  newDelivery,
  redeliver,
} from '../domain/webhooks/delivery.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import type { Runtime } from '../runtime.ts'
import { findDelivery, replaceDelivery } from '../store/webhooks/deliveries.ts'
import { findHealth } from '../store/webhooks/health.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'

const RACES_MAX = 50

/**
 * Requests one more attempt at an event; the relay then enqueues it. A request that follows another
 * within a minute, before an attempt is recorded, is the same one.
 * @returns the record; 4404 without a webhook, 4403 for an event that it does not take, 1409 for
 *   a webhook that is disabled
 */
export const requestRedelivery = async (
  event: ProviderEvent,
  runtime: Pick<Runtime, 'now'>,
): Promise<Delivery | Refusal> => {
  const { reference, n, provider } = event
  const [webhook, health] = await Promise.all([findWebhookSettings(provider), findHealth(provider)])
  if (!webhook) return new Refusal(4404)
  if (!isSubscribed(webhook, event.type)) return new Refusal(4403)
  if (health.disabledAt) {
    return new Refusal(1409, { details: 'the webhook is disabled: no delivery succeeded for days' })
  }
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const found = await findDelivery(reference, n)
    const now = runtime.now()
    if (found && isRedelivering(found, now)) return found
    const asked = redeliver(found ?? newDelivery(event, webhook), now)
    if (await replaceDelivery(found, asked)) return asked
  }
  throw new Error(`The delivery of event ${n} of ${reference} changed ${RACES_MAX} times`)
}
