import type { ProviderId } from '../domain/providers/provider.ts'
import { type Attempt, errorClasses } from '../domain/webhooks/attempt.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import { eventId } from '../domain/webhooks/event.ts'
import { eventTypes } from '../domain/webhooks/event-type.ts'
import { failingDays, healthState, type WebhookHealth } from '../domain/webhooks/health.ts'
import { log } from '../log.ts'
import { type Figures, measure } from '../metrics.ts'

/**
 * Logs an attempt in one line, which is also its metrics.
 * @param previous the record before the attempt
 * @param tried false for a delivery that was abandoned without an attempt
 */
export const logAttempt = (
  delivery: Delivery,
  { previous, tried }: { previous: Delivery | undefined; tried: boolean },
): void => {
  const { reference, provider, status, last, reason } = delivery
  const fields = {
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
  }
  log.info(tried ? 'delivery attempted' : 'delivery abandoned', fields, {
    ...(tried && last && attemptFigures(delivery, last, previous)),
    ...(status === 'abandoned' && { WebhookAbandoned: 1 }),
  })
}

const attemptFigures = (
  { occurredAt }: Delivery,
  last: Attempt,
  previous: Delivery | undefined,
): Figures => ({
  WebhookAttemptMilliseconds: last.milliseconds,
  [last.cause ? 'WebhookAttemptFailed' : 'WebhookDelivered']: 1,
  // The redelivery of an event that was abandoned without an attempt is late by no fault of the service.
  ...(last.number === 1 &&
    !previous?.reason && {
      // Another worker's clock may be ahead.
      WebhookFirstSeconds: Math.max(0, last.at.getTime() - occurredAt.getTime()) / 1000,
      ...(last.cause && { WebhookFirstFailed: 1 }),
    }),
})

/** Logs a change of the health state, and measures for how many days the webhook has been failing. */
export const logHealthChange = (
  provider: ProviderId,
  previous: WebhookHealth,
  next: WebhookHealth,
  now: Date,
): void => {
  const state = healthState(next)
  const figures = next.failingSince && { WebhookFailingDays: failingDays(next, now) }
  if (state === healthState(previous)) {
    if (figures) measure(figures)
  } else if (state === 'healthy') log.info('webhook recovered', { provider })
  else log.warn(`webhook ${state}`, { provider, failing_since: next.failingSince }, figures)
}
