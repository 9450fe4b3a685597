import type { Delivery } from '../../shared/domain/delivery.ts'
import { deliveryId, eventId } from '../../shared/domain/event.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import { Reference } from '../../shared/domain/reference.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { listDeliveries } from '../../shared/store/deliveries.ts'

/** The published delivery record (specification, Webhook delivery record), and what it is about. */
const view = (delivery: Delivery) => ({
  id: deliveryId(delivery.reference, delivery.n),
  reference: delivery.reference,
  event: eventTypes[delivery.event].event,
  event_id: eventId(delivery.reference, delivery.n),
  status: delivery.status,
  attempt_count: delivery.attemptCount,
  max_attempts: delivery.attemptsMax,
  response_code: delivery.responseCode,
  response_body: delivery.responseBody,
  cause: delivery.cause,
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  failed_at: delivery.failedAt?.toISOString() ?? null,
})

export const handler = operatorHandler({
  list: verb(options({ reference: Reference }), async ({ reference }) =>
    (await listDeliveries(reference)).map(view),
  ),
})
