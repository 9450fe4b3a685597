import { consumer } from '../../shared/queues/consume.ts'
import { send } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'

/**
 * Attempts to deliver events to a provider's webhook (docs/api.md#webhooks) and records the attempts.
 * The relay enqueues retries from the record. A slow receiver's events move to the sidelined queue.
 */
export const deliverWebhook = (runtime: Runtime) =>
  // The three priority queues have the same message shape.
  consumer('webhooks-high', async (message) => {
    const slow = await deliverEvents(message, { unlessSlow: true }, runtime)
    if (slow) await send({ queue: 'webhooks-sidelined', message, group: slow.provider })
  })

export const handler = deliverWebhook(real)
