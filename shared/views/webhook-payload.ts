import * as v from 'valibot'
import { type Debit, type State, stateAt } from '../domain/debits/debit.ts'
import {
  type DebitEventName,
  debitEventNames,
  debitEventTypes,
} from '../domain/debits/lifecycle.ts'
import { reversalRefund, shownRefund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import { amountNumber, CURRENCY } from '../domain/money.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import {
  eventId,
  eventSequence,
  type PayloadVariant,
  PING,
  type ProviderEvent,
  SETTLED,
} from '../domain/webhooks/event.ts'
import { eventTypes, sentType } from '../domain/webhooks/event-type.ts'
import { batchSchema, batchViewWith } from './batch.ts'
import { EventId, FreeForm, named, Quantity, Time } from './fields.ts'
import { refundSchema, refundView } from './refund.ts'
import {
  errorDetails,
  errorDetailsSchema,
  transactionEntries,
  transactionView,
} from './transaction.ts'

const API_VERSION = 'v1'

const headOf = (event: string, event_id: string, at: Date) => ({
  event,
  event_id,
  timestamp: at.toISOString(),
  api_version: API_VERSION,
})

const headEntries = () => ({
  event_id: EventId,
  timestamp: Time,
  api_version: v.literal(API_VERSION),
})

/** Returns event `n` of a debit with its body (docs/api.md#event-types). */
export const debitEvent = (debit: Debit, n: number): ProviderEvent => {
  const { reference, provider } = debit.facts
  const entry = debit.history[n]
  if (!entry) throw new Error(`Debit ${reference} has no event ${n}`)
  const payload = (variant?: PayloadVariant) => webhookPayload(debit, n, variant)
  const { type, at, generation } = entry
  return {
    provider,
    reference,
    n,
    generation,
    type,
    at,
    isErased: debit.erasedAt !== undefined,
    payload,
  }
}

export const debitEvents = (debit: Debit) => debit.history.map((_, n) => debitEvent(debit, n))

/** Returns the event of a paid batch; undefined until the batch is paid. */
export const settlementEvent = (batch: Batch): ProviderEvent | undefined => {
  const { provider, completedAt: at, completedGeneration: generation } = batch
  if (batch.status !== 'completed' || !at) return undefined
  const reference = batch.id as string as Reference
  const id = eventId({ reference, n: SETTLED, generation })
  const payload = () => ({
    ...headOf(eventTypes.settled.event, id, at),
    sequence: 0,
    data: { settlement: batchViewWith(batch, amountNumber) },
  })
  return {
    provider,
    reference,
    n: SETTLED,
    generation,
    type: 'settled',
    at,
    isErased: false,
    payload,
  }
}

/** Returns the minified body of event `n` of a debit, in its state at that event (docs/api.md#payload). */
export const webhookBody = (debit: Debit, n: number, variant: PayloadVariant = {}): string =>
  JSON.stringify(webhookPayload(debit, n, variant))

/** Returns the same body as an object. */
export const webhookPayload = (debit: Debit, n: number, variant: PayloadVariant = {}) => {
  const state = stateAt(debit, n)
  const generation = debit.history[n]?.generation
  const id = eventId({ reference: state.reference, n, generation })
  return {
    ...headOf(sentType(state.status, variant), id, state.updatedAt),
    sequence: eventSequence(n, generation, debit.history[0]?.generation),
    data: variant.payload === 'reduced' ? reducedData(state) : fullData(debit, state),
  }
}

const fullData = (debit: Debit, state: State) => {
  const details = errorDetails(state)
  return {
    transaction: transactionView(state, amountNumber),
    previous_status: state.previousStatus,
    metadata: state.metadata,
    ...(details ? { error_details: details } : {}),
    ...(debitEventTypes[state.status].adds === 'refund' && { refund: refundOf(debit) }),
  }
}

const refundOf = (debit: Debit) => {
  const refund = shownRefund(reversalRefund(debit))
  return refund && refundView(refund, amountNumber)
}

const reducedData = (state: State) => ({
  reference: state.reference,
  status: state.status,
  amount: amountNumber(state.amount),
  currency: CURRENCY,
  partner_reference: state.partnerReference,
  timestamp: state.updatedAt.toISOString(),
})

/** Returns the body of a ping. A ping concerns no debit and has no sequence (docs/api.md#webhook-health). */
export const pingBody = ({ eventId, at }: { eventId: string; at: Date }): string =>
  JSON.stringify({ ...headOf(PING, eventId, at), data: {} })

/** Returns both types of an event: the one to subscribe to and its variant (docs/api.md#variants). */
export const sentTypes = (name: DebitEventName): string[] => [
  sentType(name, {}),
  sentType(name, { eventNames: 'debit_request' }),
]

/** Returns the name of an event's schema, such as `TransactionCreatedEvent`. */
export const eventSchemaName = (event: string): string =>
  `${event.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

const eventNameSchema = (previous: boolean) => {
  const schema = named('DebitEventStatus', v.picklist(debitEventNames))
  return previous ? v.nullable(schema) : schema
}

/** Returns the schema of the events of one status, in both payloads. */
export const webhookSchema = (name: DebitEventName) => {
  const entries = transactionEntries(eventNameSchema(false), v.number())
  const { reference, amount, currency, partner_reference } = entries
  const { adds } = debitEventTypes[name]
  const own: v.ObjectEntries = {
    ...(adds === 'error_details' && { error_details: errorDetailsSchema() }),
    ...(adds === 'refund' && { refund: v.nullable(refundSchema(v.number())) }),
  }
  const full = v.object({
    transaction: named('EventTransaction', v.object(entries)),
    previous_status: eventNameSchema(true),
    metadata: v.nullable(FreeForm),
    ...own,
  })
  const reduced = named(
    'ReducedTransaction',
    v.pipe(
      v.object({
        reference,
        status: eventNameSchema(false),
        amount,
        currency,
        partner_reference,
        timestamp: Time,
      }),
      v.description('With the provider setting for the reduced payload'),
    ),
  )
  return named(
    eventSchemaName(eventTypes[name].event),
    v.object({
      event: v.picklist(sentTypes(name)),
      ...headEntries(),
      sequence: Quantity,
      data: v.union([full, reduced]),
    }),
  )
}

export const settlementWebhookSchema = () =>
  named(
    eventSchemaName(eventTypes.settled.event),
    v.object({
      event: v.literal(eventTypes.settled.event),
      ...headEntries(),
      sequence: v.literal(0),
      data: v.object({ settlement: batchSchema(v.number()) }),
    }),
  )

export const pingWebhookSchema = () =>
  named(
    eventSchemaName(PING),
    v.object({
      event: v.literal(PING),
      ...headEntries(),
      event_id: v.string(),
      data: v.object({}),
    }),
  )

/** Returns the schema of any event of a feed. */
export const eventSchema = () =>
  named('Event', v.union([...debitEventNames.map(webhookSchema), settlementWebhookSchema()]))

/** Describes the headers of every webhook (docs/api.md#signatures). */
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

/** Describes the header that is present only while a secret rotation overlaps (docs/api.md#signatures). */
export const overlapHeaders = {
  'X-SVC-Signature-Previous':
    'X-SVC-Signature keyed with the previous secret, until the overlap of the rotation ends',
} as const
