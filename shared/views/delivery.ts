import * as v from 'valibot'
import type { Shows } from '../domain/complete.ts'
import { Reference } from '../domain/ids.ts'
import { namesOf } from '../domain/names.ts'
import { errors } from '../domain/refusal.ts'
import { iso } from '../domain/time.ts'
import {
  type Attempt,
  errorClasses,
  type FailureReason,
  failureReasons,
  reasonOf,
  timestampOf,
} from '../domain/webhooks/attempt.ts'
import { type Delivery, deliveryStatuses } from '../domain/webhooks/delivery.ts'
import { deliveryId, eventId, PING } from '../domain/webhooks/event.ts'
import { EventType, eventTypes } from '../domain/webhooks/event-type.ts'
import {
  HttpStatus,
  IntegerId,
  NullableText,
  NullableTime,
  named,
  Quantity,
  Time,
} from './fields.ts'

const reasonView = (reason: FailureReason | null) =>
  reason && { code: reason, message: errors[reason].message }

const reasonSchema = () =>
  v.nullable(
    named('DeliveryFailure', v.object({ code: v.picklist(failureReasons), message: v.string() })),
  )

export type DeliveryResult = ReturnType<typeof deliveryView>

/** Shows the record of a delivery (docs/api.md#delivery-records). */
export const deliveryView = (delivery: Delivery) =>
  ({
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
  }) satisfies Shows<
    Delivery,
    'n' | 'generation' | 'provider' | 'occurredAt' | 'attemptsMax' | 'last' | 'autoRetries'
  >

const deliveryEntries = () => ({
  id: IntegerId,
  reference: Reference,
  event: EventType,
  event_id: v.string(),
  status: v.picklist(namesOf(deliveryStatuses)),
  attempt_count: Quantity,
  max_attempts: Quantity,
  response_code: v.nullable(HttpStatus),
  response_body: NullableText,
  next_attempt_at: NullableTime,
  delivered_at: NullableTime,
  failed_at: NullableTime,
  reason: reasonSchema(),
})

export const deliverySchema = () => named('Delivery', v.object(deliveryEntries()))

const attemptView = (attempt: Attempt) =>
  ({
    at: iso(attempt.at),
    duration_ms: attempt.milliseconds,
    address: attempt.address,
    response_code: attempt.responseCode,
    response_body: attempt.responseBody,
    error_class: attempt.cause && errorClasses[attempt.cause],
    cause: attempt.cause,
  }) satisfies Shows<Attempt, 'id' | 'number' | 'sentAt' | 'milliseconds' | 'sentAs'>

const attemptEntries = () => ({
  at: Time,
  duration_ms: Quantity,
  address: NullableText,
  response_code: v.nullable(HttpStatus),
  response_body: NullableText,
  error_class: v.nullable(v.picklist([...new Set(Object.values(errorClasses))])),
  cause: v.nullable(v.picklist(namesOf(errorClasses))),
})

/** Returns the headers of an attempt without its signatures. */
const attemptHeaders = (delivery: Delivery, { id, at, sentAt = at, sentAs }: Attempt) => ({
  'X-SVC-Event': sentAs,
  'X-SVC-Event-ID': eventId(delivery),
  'X-SVC-Delivery-ID': id,
  'X-SVC-Timestamp': timestampOf(sentAt),
})

export type LoggedDelivery = { delivery: Delivery; attempts: readonly Attempt[] }

export type DeliveryWithAttempts = ReturnType<typeof deliveryWithAttempts>

/** Shows a delivery with the log of its attempts (docs/api.md#delivery-records). */
export const deliveryWithAttempts = ({ delivery, attempts }: LoggedDelivery) => ({
  ...deliveryView(delivery),
  attempts: attempts.map((attempt) => ({
    attempt: attempt.number,
    ...attemptView(attempt),
    request_headers: attemptHeaders(delivery, attempt),
  })),
})

export const deliveryWithAttemptsSchema = () =>
  named(
    'DeliveryWithAttempts',
    v.object({
      ...deliveryEntries(),
      attempts: v.array(
        named(
          'Attempt',
          v.object({
            attempt: Quantity,
            ...attemptEntries(),
            request_headers: v.record(v.string(), v.string()),
          }),
        ),
      ),
    }),
  )

export type PingResult = ReturnType<typeof pingView>

/** Shows the result of a ping (docs/api.md#webhook-health). */
export const pingView = (id: string, attempt: Attempt) => ({
  event: PING,
  event_id: `evt_${id}`,
  delivered: attempt.cause === null,
  ...attemptView(attempt),
  reason: reasonView(reasonOf(attempt.cause)),
})

export const pingSchema = () =>
  named(
    'PingResult',
    v.object({
      event: v.literal(PING),
      event_id: v.string(),
      delivered: v.boolean(),
      ...attemptEntries(),
      reason: reasonSchema(),
    }),
  )
