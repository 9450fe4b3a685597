import { batchConsumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { newDeliverer } from '../../shared/webhooks/deliver.ts'

/** Delivers the events of slow receivers, with separate workers (docs/api.md#slow-receivers). */
export const deliverSidelinedWebhook = (runtime: Runtime) =>
  batchConsumer('webhooks-sidelined', () => {
    const deliver = newDeliverer({ skipsSlowReceivers: false }, runtime)
    return async (message) => {
      await deliver(message)
    }
  })

export const handler = deliverSidelinedWebhook(real)
