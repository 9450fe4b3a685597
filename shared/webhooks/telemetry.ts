import type { ProviderId } from '../domain/providers/provider.ts'
import { errorClasses } from '../domain/webhooks/attempt.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import { deliveryId, eventId } from '../domain/webhooks/event.ts'
import { eventTypes } from '../domain/webhooks/event-type.ts'
import { failingDays, healthState, type WebhookHealth } from '../domain/webhooks/health.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'

/** One wide line for each attempt and each turn of a webhook, and their figures. */

/** @param delivery as the attempt left it, or as it was given up without one */
export const logAttempt = (delivery: Delivery, { tried }: { tried: boolean }): void => {
  const { reference, provider, status, last, reason } = delivery
  log.info(tried ? 'delivery attempted' : 'delivery abandoned', {
    delivery_id: deliveryId(delivery),
    event_id: eventId(delivery),
    event: eventTypes[delivery.event].event,
    reference,
    provider,
    attempt: delivery.attemptCount,
    attempt_id: tried ? (last?.id ?? null) : null,
    attempts_max: delivery.attemptsMax,
    status,
    reason,
    response_code: last?.responseCode ?? null,
    cause: last?.cause ?? null,
    error_class: last?.cause ? errorClasses[last.cause] : null,
    address: last?.address ?? null,
    next_attempt_at: delivery.nextAttemptAt,
    milliseconds: last?.milliseconds ?? null,
  })
  measure({
    ...(tried && last ? { WebhookAttemptMilliseconds: last.milliseconds } : {}),
    ...(tried && last ? { [last.cause ? 'WebhookAttemptFailed' : 'WebhookDelivered']: 1 } : {}),
    ...(status === 'abandoned' ? { WebhookAbandoned: 1 } : {}),
  })
}

/** What turned for the better or the worse, and for how many days it has been failing. */
export const logHealthChange = (
  provider: ProviderId,
  before: WebhookHealth,
  after: WebhookHealth,
  now: Date,
): void => {
  const state = healthState(after)
  if (state === 'healthy' && healthState(before) !== state) {
    log.info('webhook recovered', { provider })
  } else if (healthState(before) !== state) {
    log.warn(`webhook ${state}`, { provider, failing_since: after.failingSince })
  }
  if (after.failingSince) measure({ WebhookFailingDays: failingDays(after, now) })
}
