import { PING } from '../shared/domain/webhooks/event.ts'
import {
  type DebitEventName,
  debitEventNames,
  eventTypes,
  sentType,
} from '../shared/domain/webhooks/event-type.ts'
import {
  overlapHeaders,
  payloadHeaders,
  pingBody,
  sentTypes,
  settlementEvent,
  webhookBody,
} from '../shared/views/webhook-payload.ts'
import { exampleBatch, exampleEvents, NOON } from './example-debit.ts'
import { componentRef, type Json } from './schemas.ts'

/** The events that a provider's receiver is sent, one webhook each. */

const VARIANTS = { payload: 'reduced', eventNames: 'debit_request' } as const

const meaning: Record<DebitEventName, string> = {
  created: 'A charge was accepted',
  pending: 'It waits to be handed to the bank',
  processing: 'The bank accepted it and asks the customer',
  completed: 'The customer was debited: the only event to deliver goods on',
  failed: 'It failed, and nobody was debited',
  reversed: 'A completed debit was given back',
}

const headers = (described: Record<string, string>, { required }: { required: boolean }): Json[] =>
  Object.entries(described).map(([name, description]) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  }))

const parameters = [
  ...headers(payloadHeaders, { required: true }),
  ...headers(overlapHeaders, { required: false }),
]

const responses = {
  '2XX': { description: 'Received; process it after the answer' },
  '4XX': { description: 'Not received; tried again for 408 and 429 alone' },
}

const webhookOf = (name: DebitEventName): Json => {
  const { event, priority, retries } = eventTypes[name]
  const [debit, n] = exampleEvents[name]
  const renamed = sentType(name, VARIANTS)
  return {
    post: {
      operationId: event,
      summary: meaning[name],
      description:
        `Sent to the provider's webhook, up to ${retries} times again after a failed attempt ` +
        '(a setting of the provider may replace that number). Any 2xx ends it; 408, 429, 500, ' +
        '502, 503 and 504, and a receiver that cannot be reached, are tried again. No order of ' +
        'arrival is promised: `sequence` counts the events of a transaction from 0, and an event ' +
        'may come more than once under one `event_id`. A provider may ask for the reduced ' +
        `payload, and for the name \`${renamed}\` in the body and in X-SVC-Event.`,
      security: [],
      'x-priority': priority,
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              $ref: componentRef('schemas', 'Webhook'),
              properties: { event: { enum: sentTypes(name) } },
            },
            examples: {
              full: { summary: 'As usual', value: JSON.parse(webhookBody(debit, n)) },
              reduced: {
                summary: 'For a provider that asked for both variants',
                value: JSON.parse(webhookBody(debit, n, VARIANTS)),
              },
            },
          },
        },
      },
      responses,
    },
  }
}

const settlement: Json = {
  post: {
    operationId: eventTypes.settled.event,
    summary: 'A settlement batch was paid',
    description:
      'Sent to a provider that subscribes to it; nobody does without asking. Tried again as ' +
      `the others are, up to ${eventTypes.settled.retries} times.`,
    security: [],
    'x-priority': eventTypes.settled.priority,
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: componentRef('schemas', 'SettlementWebhook') },
          example: JSON.parse(JSON.stringify(settlementEvent(exampleBatch)?.payload({}))),
        },
      },
    },
    responses,
  },
}

const ping: Json = {
  post: {
    operationId: PING,
    summary: 'Somebody tries the webhook out',
    description: 'Sent once, on the word of the provider; no transaction is meant.',
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: componentRef('schemas', 'Ping') },
          example: JSON.parse(
            pingBody({ eventId: 'evt_5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1', at: NOON }),
          ),
        },
      },
    },
    responses,
  },
}

export const webhooks: Json = {
  ...Object.fromEntries(debitEventNames.map((name) => [eventTypes[name].event, webhookOf(name)])),
  [eventTypes.settled.event]: settlement,
  [PING]: ping,
}
