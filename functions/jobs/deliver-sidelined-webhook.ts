import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'

/** The same for receivers that are slow to answer, with workers of its own. */
export const deliverSidelinedWebhook = (runtime: Runtime) =>
  consumer('webhooks-sidelined', async (message) => {
    await deliverEvents(message, { unlessSlow: false }, runtime)
  })

export const handler = deliverSidelinedWebhook(real)
