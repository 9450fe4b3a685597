import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { parseDeliveryId } from '../../shared/domain/webhooks/event.ts'
import { environment, real } from '../../shared/runtime.ts'
import { deliveryView } from '../../shared/views/delivery.ts'
import { findEvent } from '../../shared/webhooks/find-events.ts'
import { requestRedelivery } from '../../shared/webhooks/redeliver.ts'

/** Requests one attempt to deliver an event (docs/api.md#redelivery). */
export const redeliverEvent = endpoint('redeliver-event', async ({ path, caller }, runtime) => {
  const key = parseDeliveryId(environment.referencePrefix, path.id)
  const event = key && (await findEvent(key))
  if (event?.provider !== caller.provider.id) return notFound('redeliver-event')
  const delivery = await requestRedelivery(event, runtime)
  return delivery instanceof Refusal ? delivery : { data: deliveryView(delivery) }
})

export const handler = redeliverEvent(real)
