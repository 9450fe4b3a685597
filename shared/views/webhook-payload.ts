import * as v from 'valibot'
import { PING } from '../domain/webhooks/event.ts'
import {
  type DebitEventName,
  debitEventNames,
  eventTypes,
  sentType,
} from '../domain/webhooks/event-type.ts'
import { batchShape } from './batch-shape.ts'
import { ErrorDetails, refundShape, Time, transactionShape } from './transaction-shape.ts'

const names = debitEventNames

const Full = v.object({
  transaction: v.object(transactionShape({ statuses: names, amount: v.number() })),
  previous_status: v.nullable(v.picklist(names)),
  metadata: v.record(v.string(), v.unknown()),
  error_details: v.optional(ErrorDetails),
  refund: v.optional(refundShape(v.number())),
})

const shape = Full.entries.transaction.entries

const Reduced = v.pipe(
  v.object({
    reference: shape.reference,
    status: shape.status,
    amount: shape.amount,
    currency: shape.currency,
    partner_reference: shape.partner_reference,
    timestamp: Time,
  }),
  v.description('With the provider setting for the reduced payload'),
)

/** The types an event is sent under: the one it is subscribed to by, and its variant. */
export const sentTypes = (name: DebitEventName): string[] => [
  sentType(name, {}),
  sentType(name, { eventNames: 'debit_request' }),
]

/** The body of a webhook, as `webhookBody` writes it: for the description of the API. */
export const Payload = v.object({
  event: v.picklist(names.flatMap(sentTypes)),
  event_id: v.pipe(v.string(), v.regex(/^evt_[0-9]+$/)),
  timestamp: Time,
  api_version: v.literal('v1'),
  sequence: v.pipe(v.number(), v.integer(), v.minValue(0)),
  data: v.union([Full, Reduced]),
})

/** The body of the event that a settlement batch has. */
export const SettlementPayload = v.object({
  event: v.literal(eventTypes.settled.event),
  event_id: v.pipe(v.string(), v.regex(/^evt_[0-9]+$/)),
  timestamp: Time,
  api_version: v.literal('v1'),
  sequence: v.literal(0),
  data: v.object({ settlement: batchShape(v.number()) }),
})

/** The body of a ping. */
export const PingPayload = v.object({
  event: v.literal(PING),
  event_id: v.string(),
  timestamp: Time,
  api_version: v.literal('v1'),
  data: v.object({}),
})

/** The headers of every webhook (specification, Delivery; Standard Webhooks beside it). */
export const payloadHeaders = {
  'X-SVC-Signature':
    'Lowercase hex of the HMAC-SHA256 of the raw body, keyed with the whole webhook secret; ' +
    'prefixed with sha256= if the provider has set it',
  'X-SVC-Event': 'Event type, as in the body',
  'X-SVC-Event-ID': 'Same as event_id in every attempt; use it to deduplicate',
  'X-SVC-Delivery-ID': 'Id of this attempt, as in the list of attempts',
  'X-SVC-Timestamp': 'Epoch seconds of the signature',
  'Webhook-ID': 'Same as event_id (Standard Webhooks)',
  'Webhook-Timestamp': 'Same as X-SVC-Timestamp (Standard Webhooks)',
  'Webhook-Signature':
    'v1, a comma and base64 of the HMAC-SHA256 of id, time and body joined with dots (Standard ' +
    'Webhooks); during a rotation also with the old secret, after a blank',
} as const

/** Those that are there only while a rotation overlaps. */
export const overlapHeaders = {
  'X-SVC-Signature-Previous':
    'X-SVC-Signature keyed with the previous secret, until the overlap of the rotation ends',
} as const
