import type { OperationName } from '../shared/api/operations.ts'
import { aboveDailyLimit, aboveMaximum } from '../shared/domain/debits/charge.ts'
import { pesewas } from '../shared/domain/money.ts'
import { invalid, Refusal } from '../shared/domain/refusal.ts'
import { type Description, listDescriptions, phone, wrongPage } from './list-descriptions.ts'

/** What the rows of operations.ts do not say: words for people, and refusals of one operation. */

const reference = { example: 'DCS-20261121-ABC123' }
const uuid = { example: '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59' }

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
  ...listDescriptions,
  charge: {
    tag: 'Debit requests',
    summary: 'Request a debit',
    description:
      'Accepts a request to debit a customer and replies at once. The service submits the debit ' +
      'to the bank in the background; webhooks and the status read report the outcome. The ' +
      'amount needs two decimals, as a number or as text. The fields are flat or inside ' +
      '`debit_request`, not both. A repeated request with the same body returns the existing ' +
      'transaction in its current status, also when it failed, with `Idempotent-Replayed: true`. ' +
      'Another body with the same partner_reference gets 409 with `reference`, `uuid` and ' +
      '`status` of the existing transaction in `details`. 3005 shows in `details` which limit ' +
      'the amount exceeds: `bank` with its `maximum`, or `daily` with `remaining` and `resets_at`.',
    bodies: { flat: charge, wrapped: { debit_request: charge } },
    refusals: [
      invalid({ phone_number: ['must be in E.164 format', 'write it like +233241234567'] }),
      new Refusal(1402, { details: { bank_identifier: ['is not supported'] } }),
      new Refusal(2003, { details: { bank_identifier: ['has no connector'] } }),
      new Refusal(3003, {
        details: { reference: reference.example, uuid: uuid.example, status: 'failed' },
      }),
      new Refusal(3004, { details: { currency: ['must be GHS'] } }),
      aboveMaximum(pesewas(500_00)),
      aboveDailyLimit(pesewas(12_00), '2026-11-21'),
      new Refusal(3007, { details: { amount: ['must be greater than or equal to 1.00'] } }),
    ],
  },
  'get-debit-request': {
    tag: 'Debit requests',
    summary: 'Read the status of a debit',
    description: 'The transaction as it stands. The rate limit is counted for each reference.',
    parameters: { reference: { ...reference, description: 'As the charge answered it' } },
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
  'test-webhook': {
    tag: 'Events',
    summary: 'Try the webhook out',
    description:
      'Sends a signed `ping` to the webhook at once, for up to 15 seconds, and answers with what ' +
      'the receiver made of it. One that is received enables a webhook that was disabled.',
    refusals: [new Refusal(4404)],
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
