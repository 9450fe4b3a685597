import { batchConsumer } from '../../shared/queues/consume.ts'
import { batchedSend } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { newDeliverer } from '../../shared/webhooks/deliver.ts'

/**
 * Attempts to deliver events to the webhooks of providers (docs/api.md#webhooks) and records the
 * attempts. All messages of a batch run concurrently. The relay enqueues retries from the record. A
 * slow receiver's events move to the sidelined queue.
 */
export const deliverWebhook = (runtime: Runtime) =>
  // The three priority queues have the same message shape.
  batchConsumer('webhooks-high', () => {
    const deliver = newDeliverer({ skipsSlowReceivers: true }, runtime)
    const send = batchedSend()
    return async (message) => {
      const slow = await deliver(message)
      if (slow) await send({ queue: 'webhooks-sidelined', message, group: slow.provider })
    }
  })

export const handler = deliverWebhook(real)
