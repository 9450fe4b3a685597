import { consumer } from '../../shared/queues/consume.ts'
import { send } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'

/**
 * One attempt to hand an event to its provider (specification, Events). The attempt is written to
 * the delivery record, and the table's stream asks for the next one: this function sends nothing
 * to the queues that feed it. What is for a receiver that is slow to answer goes to the queue of
 * such, so that it holds up nobody else's.
 */
export const deliverWebhook = (runtime: Runtime) =>
  // The three queues differ in priority alone; their messages are one shape.
  consumer('webhooks-high', async (message) => {
    const left = await deliverEvents(message, { unlessSlow: true }, runtime)
    if (left) await send({ queue: 'webhooks-sidelined', message, group: left.provider })
  })

export const handler = deliverWebhook(real)
