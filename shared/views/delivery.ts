import { errors } from '../domain/refusal.ts'
import { iso } from '../domain/time.ts'
import {
  type Attempt,
  errorClasses,
  type FailureReason,
  reasonOf,
} from '../domain/webhooks/attempt.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import { deliveryId, eventId, PING } from '../domain/webhooks/event.ts'
import { eventTypes } from '../domain/webhooks/event-type.ts'

/** The published delivery record (specification, Webhook delivery record), and what it is about. */
export const deliveryView = (delivery: Delivery) => ({
  id: deliveryId(delivery),
  reference: delivery.reference,
  event: eventTypes[delivery.event].event,
  event_id: eventId(delivery),
  status: delivery.status,
  attempt_count: delivery.attemptCount,
  max_attempts: delivery.attemptsMax,
  response_code: delivery.last?.responseCode ?? null,
  response_body: delivery.last?.responseBody ?? null,
  next_attempt_at: iso(delivery.nextAttemptAt),
  delivered_at: iso(delivery.deliveredAt),
  failed_at: iso(delivery.failedAt),
  reason: reasonView(delivery.reason),
})

const reasonView = (reason: FailureReason | null) =>
  reason && { code: reason, message: errors[reason].message }

/** The record with the log of its attempts. */
export const deliveryWithAttempts = ({
  delivery,
  attempts,
}: {
  delivery: Delivery
  attempts: readonly Attempt[]
}) => ({
  ...deliveryView(delivery),
  attempts: attempts.map((attempt) => attemptView(delivery, attempt)),
})

const tryView = (attempt: Attempt) => ({
  at: iso(attempt.at),
  duration_ms: attempt.milliseconds,
  address: attempt.address,
  response_code: attempt.responseCode,
  response_body: attempt.responseBody,
  error_class: attempt.cause && errorClasses[attempt.cause],
  cause: attempt.cause,
})

/** What a receiver made of a ping. */
export const pingView = (id: string, attempt: Attempt) => ({
  event: PING,
  event_id: `evt_${id}`,
  delivered: attempt.cause === null,
  ...tryView(attempt),
  reason: reasonView(reasonOf(attempt.cause)),
})

const attemptView = (delivery: Delivery, attempt: Attempt) => ({
  attempt: attempt.number,
  ...tryView(attempt),
  // As they were sent, but for the signatures.
  request_headers: attemptHeaders(delivery, attempt),
})

const attemptHeaders = (delivery: Delivery, { id, at, sentAs }: Attempt) => ({
  'X-SVC-Event': sentAs,
  'X-SVC-Event-ID': eventId(delivery),
  'X-SVC-Delivery-ID': id,
  'X-SVC-Timestamp': String(Math.floor(at.getTime() / 1000)),
})
