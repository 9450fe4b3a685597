import { array } from 'valibot'
import { aboveDailyLimit, aboveMaximum, noAccount } from '../../../shared/domain/debits/charge.ts'
import { refuseTransition } from '../../../shared/domain/debits/debit.ts'
import { emptyFilters, listFilters } from '../../../shared/domain/debits/list-query.ts'
import { declined } from '../../../shared/domain/debits/reversal-request.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { invalid, Refusal } from '../../../shared/domain/refusal.ts'
import * as debit from '../../../shared/views/debit.ts'
import { countEntries, numberedEntries } from '../../../shared/views/page.ts'
import { requestedSchema, requestedView } from '../../../shared/views/reversal-request.ts'
import * as examples from '../example-debit.ts'
import {
  type Descriptions,
  invalidCursor,
  invalidPage,
  lastPage,
  oneOfOne,
  pageParameters,
  referenceParameter,
} from './described.ts'

const { facts } = examples.pending

export const debitRequests = {
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
      flat: { summary: 'Fields at the top level', value: examples.exampleCharge },
      wrapped: {
        summary: 'Fields inside debit_request',
        value: { debit_request: examples.exampleCharge },
      },
    },
    sample: { body: { partner_reference: 'sample-order-1' } },
    refusals: [
      invalid({ phone_number: ['must be in E.164 format', 'write it like +233241234567'] }),
      noAccount(),
      new Refusal(1402, { details: { bank_identifier: ['is not supported'] } }),
      new Refusal(2003, { details: { bank_identifier: ['has no connector'] } }),
      new Refusal(3003, {
        details: { reference: facts.reference, uuid: facts.uuid, status: 'failed' },
      }),
      new Refusal(3004, { details: { currency: ['must be GHS'] } }),
      aboveMaximum(pesewas(500_00)),
      aboveDailyLimit(pesewas(12_00), '2026-11-21'),
      new Refusal(3007, { details: { amount: ['must be greater than or equal to 1.00'] } }),
    ],
    data: debit.chargeSchema(),
    headers: {
      'Idempotent-Replayed':
        'true if the request is a repeat and the reply shows the existing transaction',
    },
    example: { data: debit.chargeView(examples.pending) },
  },
  'get-debit-request': {
    tag: 'Debit requests',
    summary: 'Read the status of a debit',
    description: 'Returns the current transaction. The rate limit counts per reference.',
    parameters: { reference: referenceParameter },
    data: debit.statusSchema(),
    example: {
      data: debit.statusView(examples.completed, { refund: null, request: examples.openRequest }),
    },
  },
  'request-reversal': {
    tag: 'Debit requests',
    summary: 'Request a reversal',
    description:
      'Asks the operators to return the whole amount of a completed debit to its customer. They ' +
      'accept it, which reverses the debit, or decline it with a note, both shown by the status ' +
      'read as `reversal_request`. A debit has one request: a repeated one gets the same reply ' +
      'while it is open. The operator enables requests per provider; otherwise the reply is 1403.',
    parameters: { reference: referenceParameter },
    bodies: {
      refund: {
        summary: 'The customer returns the goods',
        value: { reason: 'Order 1 was cancelled', kind: 'refund' },
      },
      complaint: {
        summary: 'The customer disputes the debit',
        value: { reason: 'The customer was charged twice', kind: 'complaint' },
      },
    },
    sample: { body: { reason: 'Order 1 was cancelled' } },
    refusals: [
      new Refusal(1400, {
        details: 'a reversal could be requested until 2026-12-21T10:00:05.000Z',
      }),
      declined(examples.declinedRequest),
      new Refusal(3006),
      refuseTransition('pending', 'reversed'),
      invalid({ reason: ['must not exceed 200 characters'] }),
    ],
    data: requestedSchema(),
    headers: { 'Idempotent-Replayed': 'true if the request is a repeat' },
    example: { data: requestedView(examples.openRequest) },
  },
  'list-debit-requests': {
    tag: 'Debit requests',
    summary: 'List debits',
    description:
      'Returns debits of all statuses or of one, newest first. Numbered pages cover 10,000 ' +
      'transactions and have counts; `cursor` has no limit and no counts. A cursor is valid for the ' +
      'same provider and filters only.',
    parameters: {
      status: {
        description: ['Only this status (default: all)', ...emptyFilters].join('. '),
        example: 'failed',
      },
      created_from: {
        description: 'Created at this time or later: ISO 8601 with an offset, or a UTC day',
        example: '2026-11-21',
      },
      created_to: {
        description: 'Created before this time, in the same format',
        example: '2026-11-22T00:00:00Z',
      },
      partner_reference: {
        description: 'Only the transaction with this partner_reference',
        example: 'order-1',
      },
      page: { example: 1 },
      ...pageParameters('Transactions', 'list-debit-requests'),
    },
    sample: { query: { status: 'completed', page: '1', per_page: '20' } },
    refusals: [
      invalid({ status: [`must be one of ${listFilters.join(', ')}`] }),
      invalidPage,
      invalidCursor,
    ],
    data: array(debit.debitSchema()),
    page: { ...numberedEntries(), ...countEntries() },
    example: {
      data: [debit.debitView(examples.failed)],
      page: { per_page: 20, ...oneOfOne, total_count: 1, ...lastPage },
    },
  },
} as const satisfies Partial<Descriptions>
