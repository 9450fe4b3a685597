import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'

/** Delivers the events of slow receivers, with separate workers (docs/api.md#slow-receivers). */
export const deliverSidelinedWebhook = (runtime: Runtime) =>
  consumer('webhooks-sidelined', async (message) => {
    await deliverEvents(message, { unlessSlow: false }, runtime)
  })

export const handler = deliverSidelinedWebhook(real)
