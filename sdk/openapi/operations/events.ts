import { array, boolean, pipe, regex, string } from 'valibot'
import { Refusal } from '../../../shared/domain/refusal.ts'
import { pingAttempt } from '../../../shared/domain/webhooks/attempt.ts'
import { redeliver } from '../../../shared/domain/webhooks/delivery.ts'
import { DELIVERY_ID, deliveryId } from '../../../shared/domain/webhooks/event.ts'
import { webhookDisabled } from '../../../shared/domain/webhooks/health.ts'
import * as delivery from '../../../shared/views/delivery.ts'
import { Quantity } from '../../../shared/views/fields.ts'
import { eventSchema, webhookPayload } from '../../../shared/views/webhook-payload.ts'
import * as examples from '../example-debit.ts'
import { type Descriptions, invalidCursor, referenceParameter } from './described.ts'

const DeliveryId = pipe(string(), regex(DELIVERY_ID))

export const events = {
  'list-deliveries': {
    tag: 'Events',
    summary: "List the deliveries of a debit's events",
    description:
      'Returns the delivery record of each attempted event with its 20 newest attempts. Response ' +
      'bodies are cut at 4 KiB and escaped. Attempts before the last one are kept for 30 days.',
    parameters: { reference: referenceParameter },
    data: array(delivery.deliveryWithAttemptsSchema()),
    example: {
      data: [
        delivery.deliveryWithAttempts({
          delivery: examples.delivered,
          attempts: examples.delivered.last ? [examples.delivered.last] : [],
        }),
      ],
    },
  },
  'redeliver-event': {
    tag: 'Events',
    summary: 'Deliver an event again',
    description:
      'Requests one attempt, which replaces a scheduled one. Repeated requests within a minute, ' +
      'before an attempt is recorded, count as one and return the same record.',
    parameters: {
      id: {
        description: 'Id of the delivery record',
        example: String(deliveryId(examples.delivered)),
        schema: DeliveryId,
      },
    },
    refusals: [new Refusal(4403), new Refusal(4404), webhookDisabled()],
    data: delivery.deliverySchema(),
    example: {
      data: delivery.deliveryView(redeliver(examples.delivered, examples.secondsLater(60))),
    },
  },
  'list-events': {
    tag: 'Events',
    summary: 'Read the feed of all events',
    description:
      'Returns all events of the provider for 30 days in one order, with the webhook bodies, ' +
      'including types without a subscription. Send the `next_cursor` of a reply as `cursor` of the ' +
      'next request: the feed never inserts an event before it. The feed can contain an event ' +
      'twice, with the same `event_id`.',
    parameters: {
      cursor: {
        example: examples.exampleCursors['list-events'],
        description: 'The next_cursor of the previous page (default: from the oldest event)',
      },
      after: {
        example: examples.exampleCursors['list-events'],
        description: 'Former name of `cursor`; both together are refused',
        deprecated: true,
      },
      per_page: { description: 'Events per page (default 20)', example: 20 },
    },
    sample: { query: { per_page: '50' } },
    refusals: [invalidCursor],
    data: array(eventSchema()),
    page: { per_page: Quantity, next_cursor: string(), has_more: boolean() },
    example: {
      data: [webhookPayload(examples.completed, 3)],
      page: { per_page: 20, next_cursor: examples.exampleCursors['list-events'], has_more: false },
    },
  },
  'test-webhook': {
    tag: 'Events',
    summary: 'Send a test event',
    description:
      'Sends a signed `ping` to the webhook immediately and returns the result of the attempt after ' +
      'at most 15 seconds. A successful ping re-enables a disabled webhook.',
    refusals: [new Refusal(4404)],
    data: delivery.pingSchema(),
    example: {
      data: delivery.pingView(
        '5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1',
        pingAttempt(examples.response, examples.attempt),
      ),
    },
  },
} as const satisfies Partial<Descriptions>
