import * as v from 'valibot'
import type { OperationName, operations } from '../../shared/api/operations.ts'
import { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { aboveDailyLimit, aboveMaximum } from '../../shared/domain/debits/charge.ts'
import { BatchId, Reference, Uuid } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { DELIVERY_ID, deliveryId } from '../../shared/domain/webhooks/event.ts'
import { delivered, exampleBatch, exampleCharge, pending } from './example-debit.ts'
import {
  type Description,
  invalidPage,
  listDescriptions,
  phoneParameter,
} from './list-descriptions.ts'

const reference = {
  description: 'Reference from the charge reply',
  example: pending.facts.reference,
  schema: Reference,
}
const uuid = { example: pending.facts.uuid, schema: Uuid }
const batchId = { description: 'Id of the batch', example: exampleBatch.id, schema: BatchId }

const DeliveryId = v.pipe(v.string(), v.regex(DELIVERY_ID))

const refusedTransition = new Refusal(3001, {
  http: 422,
  details: { status: ['cannot transition from failed to completed'] },
})
const missingMessage = invalid({ error_message: ['is required when status is failed'] })

const webhookDisabled = new Refusal(1409, {
  details: 'the webhook is disabled: no delivery succeeded for days',
})

const completedReport = {
  status: 'completed',
  bank_reference: 'GCB-0001',
  approval_method: 'ussd',
  fee: '1.50',
} as const

type Wrapped<O, Fields> = O extends { wrapper: infer Name extends string }
  ? Record<Name, Fields>
  : never

/** Requests by name, of an operation with a body. */
type Bodies<O> = O extends { body: infer Body extends v.GenericSchema }
  ? {
      bodies: Record<
        string,
        { summary: string; value: v.InferInput<Body> | Wrapped<O, v.InferInput<Body>> }
      >
    }
  : { bodies?: never }

export const descriptions: {
  [Name in OperationName]: Description & Bodies<(typeof operations)[Name]>
} = {
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
    bodies: {
      flat: { summary: 'Fields at the top level', value: exampleCharge },
      wrapped: { summary: 'Fields inside debit_request', value: { debit_request: exampleCharge } },
    },
    sample: { body: { partner_reference: 'sample-order-1' } },
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
    description: 'Returns the current transaction. The rate limit counts per reference.',
    parameters: { reference },
  },
  'list-banks': {
    tag: 'Banks',
    summary: 'List banks',
    description: 'Returns all live banks by name; in pages if `page` or `per_page` is given.',
    parameters: { page: { example: 1 }, per_page: { description: 'Banks per page', example: 20 } },
    refusals: [invalidPage],
  },
  'get-bank': {
    tag: 'Banks',
    summary: 'Read a bank',
    description: 'Returns a live bank and how its customers approve debits.',
    parameters: { identifier: { example: 'GCB', schema: BankIdentifier } },
  },
  'lookup-customer-banks': {
    tag: 'Banks',
    summary: "Look up a customer's banks",
    description:
      'Returns the live banks at which a phone number has an active account, with the account holder.',
    parameters: { phone_number: phoneParameter },
  },
  'list-deliveries': {
    tag: 'Events',
    summary: "List the deliveries of a debit's events",
    description:
      'Returns the delivery record of each attempted event with its 20 newest attempts. Response ' +
      'bodies are cut at 4 KiB and escaped. Attempts before the last one are kept for 30 days.',
    parameters: { reference },
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
        example: String(deliveryId(delivered)),
        schema: DeliveryId,
      },
    },
    refusals: [new Refusal(4403), new Refusal(4404), webhookDisabled],
  },
  'test-webhook': {
    tag: 'Events',
    summary: 'Send a test event',
    description:
      'Sends a signed `ping` to the webhook immediately and returns the result of the attempt after ' +
      'at most 15 seconds. A successful ping re-enables a disabled webhook.',
    refusals: [new Refusal(4404)],
  },
  'get-settlement': {
    tag: 'Settlements',
    summary: 'Read a settlement batch',
    description:
      'Returns a batch, which is built on the day after its debits completed and paid a day later. ' +
      '`net` = `gross` - `fee` + `adjustments`. An adjustment offsets a debit that was reversed ' +
      'after its settlement.',
    parameters: { id: batchId },
  },
  'get-settlement-report': {
    tag: 'Settlements',
    summary: 'Read the report of a settlement batch',
    description:
      'Returns the lines of the batch and their sums, as JSON or as a CSV file whose last row has ' +
      'the sums. For a report over 4 MB the reply is 303 with a URL that is valid for 15 minutes.',
    parameters: {
      id: batchId,
      format: { description: 'Format of the report (default json)', example: 'json' },
    },
    sample: { query: { format: 'csv' } },
    refusals: [
      new Refusal(5001, { details: 'the batch is being built' }),
      invalid({ format: ['must be one of json, csv'] }),
    ],
  },
  'update-debit-transaction': {
    tag: 'Bank reports',
    summary: 'Report the outcome of a transaction',
    description:
      'Completes or fails a pending or processing transaction. A repeated status changes nothing ' +
      'and returns the current transaction.',
    parameters: { uuid },
    bodies: {
      completed: { summary: 'The customer was debited', value: completedReport },
      failed: {
        summary: 'The debit failed',
        value: {
          status: 'failed',
          bank_reference: 'GCB-0001',
          error_message: 'Insufficient funds',
        },
      },
    },
    refusals: [missingMessage, refusedTransition],
  },
  'debit-callback': {
    tag: 'Bank reports',
    summary: 'Send a callback about a transaction',
    description:
      'Accepts the same body as the update, and `approved`: the customer approved, so the ' +
      'five-minute timeout stops.',
    parameters: { uuid },
    bodies: {
      approved: {
        summary: 'The customer approved; the outcome follows',
        value: { status: 'approved', bank_reference: 'GCB-0001' },
      },
      completed: { summary: 'The customer was debited', value: completedReport },
    },
    refusals: [missingMessage, refusedTransition],
  },
}
