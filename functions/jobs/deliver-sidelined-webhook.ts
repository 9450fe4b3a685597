import { deliverEvents } from '../../shared/deliveries/deliver.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'

/** The same for receivers that are slow to answer, with workers of its own. */
export const deliverSidelinedWebhook = (runtime: Runtime) =>
  consumer('webhooks-sidelined', async (message) => {
    await deliverEvents(message, { unlessSlow: false }, runtime)
  })

export const handler = deliverSidelinedWebhook(real)
