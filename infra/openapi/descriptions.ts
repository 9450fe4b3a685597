import type { OperationName } from '../../shared/api/operations.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'

/** What the rows of operations.ts do not say: words for people, and refusals of one operation. */

type Description = {
  tag: 'Debit requests' | 'Banks' | 'Bank reports' | 'Events' | 'Settlements'
  summary: string
  description: string
  /** Parameters of path and query, by name. */
  parameters?: Record<string, { description?: string; example: unknown }>
  /** Bodies to begin with. */
  bodies?: Record<string, Record<string, unknown>>
  /** Refusals that belong to this operation. */
  refusals?: readonly Refusal[]
}

const phone = { example: '+233241234567' }
const reference = { example: 'DCS-20261121-ABC123' }
const uuid = { example: '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59' }

const wrongPage = invalid({ per_page: ['must be a whole number from 1 to 100'] })
const wrongMove = new Refusal(3001, {
  http: 422,
  details: { status: ['cannot transition from failed to completed'] },
})
const noMessage = invalid({ error_message: ['is required when status is failed'] })

const webhookDisabled = new Refusal(1409, {
  details: 'the webhook is disabled: nothing was received for days',
})

const charge = {
  phone_number: '+233241234567',
  bank_identifier: 'GCB',
  amount: '100.00',
  currency: 'GHS',
  narration: 'Order 1',
  partner_reference: 'order-1',
  metadata: { cart: 77 },
}

export const descriptions = {
  charge: {
    tag: 'Debit requests',
    summary: 'Request a debit',
    description:
      'Takes a request to debit a customer and answers at once; the work with the bank goes on ' +
      'behind, and webhooks or the status read tell what came of it. The amount needs its two ' +
      'decimals, as a number or as text. The fields stand flat or inside `debit_request`, not ' +
      'both. The same body again is answered with the existing transaction; another body under ' +
      'the same partner_reference, or the same after the first one failed, with 409.',
    bodies: { flat: charge, wrapped: { debit_request: charge } },
    refusals: [
      invalid({ phone_number: ['must be in E.164 format'] }),
      new Refusal(1402, { details: { bank_identifier: ['is not supported'] } }),
      new Refusal(2003, { details: { bank_identifier: ['has no connector'] } }),
      new Refusal(3003, { details: { reference: reference.example } }),
      new Refusal(3004, { details: { currency: ['must be GHS'] } }),
      new Refusal(3005, { details: { amount: ["exceeds the bank's maximum"] } }),
      new Refusal(3007, { details: { amount: ['must be greater than or equal to 1.00'] } }),
    ],
  },
  'get-debit-request': {
    tag: 'Debit requests',
    summary: 'Read the status of a debit',
    description: 'The transaction as it stands. The rate limit is counted for each reference.',
    parameters: { reference: { ...reference, description: 'As the charge answered it' } },
  },
  'list-debit-requests': {
    tag: 'Debit requests',
    summary: 'List debits in one status',
    description:
      'Newest first. Pages reach ten thousand transactions deep; `cursor` goes on as deep as the ' +
      'list goes, and such a page has neither a number nor counts.',
    parameters: {
      status: { description: 'The status that is asked for', example: 'completed' },
      page: { example: 1 },
      per_page: { description: 'Members of a page; 20 unless told', example: 20 },
    },
    refusals: [invalid({ status: ['is required'] }), wrongPage],
  },
  'list-banks': {
    tag: 'Banks',
    summary: 'List banks',
    description: 'Every live bank by name; in pages when `page` or `per_page` is given.',
    parameters: {
      page: { example: 1 },
      per_page: { description: 'Members of a page', example: 20 },
    },
    refusals: [wrongPage],
  },
  'get-bank': {
    tag: 'Banks',
    summary: 'Read a bank',
    description: 'A live bank, and how its customers approve.',
    parameters: { identifier: { example: 'GCB' } },
  },
  'lookup-customer-banks': {
    tag: 'Banks',
    summary: "Look up a customer's banks",
    description: 'The live banks at which a phone number has an active account, and whose it is.',
    parameters: { phone_number: phone },
  },
  'list-deliveries': {
    tag: 'Events',
    summary: "List the deliveries of a debit's events",
    description:
      'The delivery record of each event that was tried to be delivered, with its 20 newest ' +
      'attempts. Bodies of receivers are cut at 4 KiB and escaped; attempts that others followed ' +
      'are kept for 30 days.',
    parameters: { reference: { ...reference, description: 'As the charge answered it' } },
  },
  'redeliver-event': {
    tag: 'Events',
    summary: 'Deliver an event again',
    description:
      'Requests one more attempt, in place of the automatic one that may be due. A request within ' +
      'a minute of another, before an attempt is recorded, is the same one and gets the same record.',
    parameters: {
      id: { description: 'Of the delivery record', example: '2137880302063503' },
    },
    refusals: [new Refusal(4403), new Refusal(4404), webhookDisabled],
  },
  'list-events': {
    tag: 'Events',
    summary: 'Read the feed of all events',
    description:
      'Every event of the provider for 30 days, in one order, with the bodies that its webhook is ' +
      'sent, also of types it is not subscribed to. Keep `next_cursor` and come back with it as ' +
      '`after`: no event is ever put in before it. An event may stand in the feed twice; ' +
      '`event_id` tells.',
    parameters: {
      after: {
        description: 'The next_cursor of the page before; absent: from the oldest',
        example: 'MS4w',
      },
      per_page: { description: 'Events of a page; 20 unless told', example: 20 },
    },
    refusals: [invalid({ after: ['must be a cursor of this feed'] })],
  },
  'test-webhook': {
    tag: 'Events',
    summary: 'Try the webhook out',
    description:
      'Sends a signed `ping` to the webhook at once, for up to 15 seconds, and answers with what ' +
      'the receiver made of it. One that is received enables a webhook that was disabled.',
    refusals: [new Refusal(4404)],
  },
  'list-settlements': {
    tag: 'Settlements',
    summary: 'List settlement batches',
    description:
      'The batches that completed debits were settled in, the newest first. Sums are null while a ' +
      'batch is being built.',
    parameters: {
      per_page: { description: 'Batches of a page; 20 unless told', example: 20 },
      cursor: {
        description: 'The next_cursor of the page before',
        example: 'MjAyNi0xMS0yMiMwMDAx',
      },
    },
    refusals: [wrongPage],
  },
  'get-settlement': {
    tag: 'Settlements',
    summary: 'Read a settlement batch',
    description:
      'Built on the day after its debits were completed, paid a day later: `net` = `gross` - `fee` ' +
      '+ `adjustments`; an adjustment takes back a debit that was reversed after its settlement.',
    parameters: { id: { description: 'Of the batch', example: 'STL-20261122-ABC123' } },
  },
  'get-settlement-report': {
    tag: 'Settlements',
    summary: 'Read the report of a settlement batch',
    description:
      'Each line of the batch, and the sums of the lines. As JSON, or as a CSV file whose last row ' +
      'holds the sums. A report of more than 4 MB is answered with 303 and an address that is ' +
      'good for 15 minutes.',
    parameters: {
      id: { description: 'Of the batch', example: 'STL-20261122-ABC123' },
      format: { description: 'json unless told', example: 'json' },
    },
    refusals: [
      new Refusal(5001, { details: 'the batch is being built' }),
      invalid({ format: ['must be one of json, csv'] }),
    ],
  },
  'list-debit-transactions': {
    tag: 'Bank reports',
    summary: "List a customer's transactions at this bank",
    description: 'The 500 newest ones at most, newest first. No match is an empty list.',
    parameters: {
      phone_number: phone,
      status: { description: 'Which ones are shown', example: 'processing' },
    },
    refusals: [
      invalid({ customer: ['account not found'] }),
      invalid({
        status_filter: ['must be one of pending, processing, completed, failed, all'],
      }),
    ],
  },
  'update-debit-transaction': {
    tag: 'Bank reports',
    summary: 'Report the outcome of a transaction',
    description:
      'Completed or failed, from pending or processing. The status that it has already changes ' +
      'nothing, and is answered with the transaction as it stands.',
    parameters: { uuid },
    bodies: {
      completed: {
        status: 'completed',
        bank_reference: 'GCB-0001',
        approval_method: 'ussd',
        fee: '1.50',
      },
      failed: {
        status: 'failed',
        bank_reference: 'GCB-0001',
        error_message: 'Insufficient funds',
      },
    },
    refusals: [noMessage, wrongMove],
  },
  'debit-callback': {
    tag: 'Bank reports',
    summary: 'Call back about a transaction',
    description:
      'What the update takes, and `approved` besides: the customer approved, and the five ' +
      'minutes for it no longer run.',
    parameters: { uuid },
    bodies: { approved: { status: 'approved', bank_reference: 'GCB-0001' } },
    refusals: [noMessage, wrongMove],
  },
} as const satisfies Record<OperationName, Description>

export const descriptionOf = (name: OperationName): Description => descriptions[name]
