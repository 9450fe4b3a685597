import * as v from 'valibot'
import type { FailureCode } from '../domain/debit.ts'
import { EventType, eventTypes } from '../domain/event-type.ts'
import { Time, transactionShape } from '../domain/transaction-shape.ts'

const names = Object.keys(eventTypes) as (keyof typeof eventTypes)[]

const failureCodes = {
  insufficient_funds: true,
  invalid_account: true,
  transaction_declined: true,
  timeout: true,
  network_error: true,
  unknown_error: true,
} as const satisfies Record<FailureCode, true>

/** The body of a webhook, as `webhookBody` writes it: for the description of the API. */
export const Payload = v.object({
  event: EventType,
  event_id: v.pipe(v.string(), v.regex(/^evt_[0-9]+$/)),
  timestamp: Time,
  api_version: v.literal('v1'),
  sequence: v.pipe(v.number(), v.integer(), v.minValue(0)),
  data: v.object({
    transaction: v.object(transactionShape({ statuses: names, amount: v.number() })),
    previous_status: v.nullable(v.picklist(names)),
    metadata: v.record(v.string(), v.unknown()),
    error_details: v.optional(
      v.object({
        message: v.nullable(v.string()),
        code: v.picklist(Object.keys(failureCodes) as FailureCode[]),
      }),
    ),
  }),
})

/** The headers of a webhook (specification, Delivery; Standard Webhooks beside it). */
export const payloadHeaders = {
  'X-SVC-Signature':
    'Lowercase hex of the HMAC-SHA256 of the raw body, keyed with the webhook secret as it was given',
  'X-SVC-Event': 'The event type',
  'X-SVC-Event-ID': 'The same as event_id: equal in every attempt, so events can be deduplicated',
  'X-SVC-Delivery-ID': 'Names the attempt',
  'X-SVC-Timestamp': 'Epoch seconds at which the attempt was signed',
  'Webhook-ID': 'The same as event_id, as Standard Webhooks names it',
  'Webhook-Timestamp': 'The same as X-SVC-Timestamp, as Standard Webhooks names it',
  'Webhook-Signature':
    'v1 and base64 of the HMAC-SHA256 of id, time and body joined with dots (Standard Webhooks)',
} as const
