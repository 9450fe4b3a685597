import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { parseDeliveryId } from '../../shared/domain/webhooks/event.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { deliveryView } from '../../shared/views/delivery.ts'
import { findEvent } from '../../shared/webhooks/find-events.ts'
import { requestRedelivery } from '../../shared/webhooks/redeliver.ts'

/** One more attempt at an event, whatever became of those before. */
export const redeliverEvent = (runtime: Runtime) =>
  endpoint('redeliver-event', runtime, async ({ path, caller }) => {
    const wanted = parseDeliveryId(environment.referencePrefix, path.id)
    const event = wanted && (await findEvent(wanted))
    if (event?.provider !== caller.provider.id) return notFound('redeliver-event')
    const asked = await requestRedelivery(event, runtime)
    return asked instanceof Refusal ? asked : { data: deliveryView(asked) }
  })

export const handler = redeliverEvent(real)
