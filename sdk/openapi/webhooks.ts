import { type DebitEventName, debitEventNames } from '../../shared/domain/debits/lifecycle.ts'
import { retriableCodes } from '../../shared/domain/webhooks/attempt.ts'
import { PING } from '../../shared/domain/webhooks/event.ts'
import { eventTypes, sentType } from '../../shared/domain/webhooks/event-type.ts'
import * as payload from '../../shared/views/webhook-payload.ts'
import { exampleBatch, exampleEvents, NOON } from './example-debit.ts'
import { camel } from './operation.ts'
import { componentRef, type Json, schemaOf, text } from './schemas.ts'

const VARIANTS = { payload: 'reduced', eventNames: 'debit_request' } as const

const headers = (descriptions: Record<string, string>, { required }: { required: boolean }) =>
  Object.entries(descriptions).map(([name, description]) => ({
    name,
    in: 'header',
    required,
    ...text(description),
  }))

const parameters = [
  ...headers(payload.payloadHeaders, { required: true }),
  ...headers(payload.overlapHeaders, { required: false }),
]

const responses = {
  '2XX': { description: 'Received; process the event after the response' },
  '4XX': {
    description: `Not received; retried for ${retriableCodes.filter((code) => code < 500).join(' and ')} only`,
  },
}

type WebhookText = { operationId: string; summary: string; description: string; priority?: string }

const webhookOf = ({ priority, ...text }: WebhookText, content: Json): Json => ({
  post: {
    ...text,
    security: [],
    ...(priority && { 'x-priority': priority }),
    parameters,
    requestBody: { required: true, content: { 'application/json': content } },
    responses,
  },
})

const debitWebhook = (name: DebitEventName): Json => {
  const { event, priority, retries } = eventTypes[name]
  const { debit, n, summary } = exampleEvents[name]
  const variantName = sentType(name, VARIANTS)
  return webhookOf(
    {
      operationId: camel(event),
      summary,
      description:
        `Sent to the provider's webhook, with up to ${retries} retries (a provider setting can ` +
        `replace this number). Any 2xx ends the delivery. ${retriableCodes.join(', ')} and ` +
        'connection failures are retried. Events can arrive out of order, and more than once with ' +
        'the same `event_id`; `sequence` numbers the events of a transaction from 0. Provider ' +
        `settings select the reduced payload and the name \`${variantName}\` in body and X-SVC-Event.`,
      priority,
    },
    {
      schema: schemaOf(payload.webhookSchema(name)),
      examples: {
        full: { summary: 'Default', value: JSON.parse(payload.webhookBody(debit, n)) },
        reduced: {
          summary: 'With both variant settings',
          value: JSON.parse(payload.webhookBody(debit, n, VARIANTS)),
        },
      },
    },
  )
}

const settlement = webhookOf(
  {
    operationId: camel(eventTypes.settled.event),
    summary: 'A settlement batch was paid',
    description:
      'Sent to providers that subscribe to it explicitly, with up to ' +
      `${eventTypes.settled.retries} retries.`,
    priority: eventTypes.settled.priority,
  },
  {
    schema: schemaOf(payload.settlementWebhookSchema()),
    examples: {
      paid: {
        summary: 'A paid batch',
        value: JSON.parse(JSON.stringify(payload.settlementEvent(exampleBatch)?.payload({}))),
      },
    },
  },
)

const examplePing = { eventId: 'evt_5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1', at: NOON }

const ping = webhookOf(
  {
    operationId: PING,
    summary: 'Test of the webhook',
    description: 'Sent once on request of the provider; refers to no transaction.',
  },
  {
    schema: schemaOf(payload.pingWebhookSchema()),
    examples: { ping: { summary: 'A ping', value: JSON.parse(payload.pingBody(examplePing)) } },
  },
)

const schemaRef = (event: string) => componentRef('schemas', payload.eventSchemaName(event))

/** Leads from the name of an event, in both of its forms, to its schema. */
export const eventDiscriminator: Json = {
  propertyName: 'event',
  mapping: Object.fromEntries([
    ...debitEventNames.flatMap((name) =>
      payload.sentTypes(name).map((sent) => [sent, schemaRef(eventTypes[name].event)]),
    ),
    [eventTypes.settled.event, schemaRef(eventTypes.settled.event)],
  ]),
}

export const webhooks: Json = {
  ...Object.fromEntries(
    debitEventNames.map((name) => [eventTypes[name].event, debitWebhook(name)]),
  ),
  [eventTypes.settled.event]: settlement,
  [PING]: ping,
}
