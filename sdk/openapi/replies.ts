import * as v from 'valibot'
import type { Success } from '../../shared/api/envelope.ts'
import type { OperationName } from '../../shared/api/operations.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { addLine, noTotals } from '../../shared/domain/settlement/batch.ts'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { redeliver } from '../../shared/domain/webhooks/delivery.ts'
import { bankDetailSchema, bankDetailView, bankSchema, bankView } from '../../shared/views/bank.ts'
import * as bankDebit from '../../shared/views/bank-debit.ts'
import * as batch from '../../shared/views/batch.ts'
import * as debit from '../../shared/views/debit.ts'
import * as delivery from '../../shared/views/delivery.ts'
import { Phone, Quantity, SignedAmount } from '../../shared/views/fields.ts'
import { countEntries, cursorEntries, numberedEntries } from '../../shared/views/page.ts'
import { eventSchema, webhookPayload } from '../../shared/views/webhook-payload.ts'
import * as examples from './example-debit.ts'

/** The schema and the example of each reply. */

export type Reply = {
  data: v.GenericSchema
  example: Success
  /** Members next to `data`. */
  topLevel?: v.ObjectEntries
  /** Members of `meta` that describe the page of a list. */
  page?: v.ObjectEntries
  /** Own headers of the reply and their descriptions. */
  headers?: Record<string, string>
  /** Media type of the alternative to JSON. */
  file?: string
  /** `data` of the 303 that replaces a reply over 4 MB. */
  redirect?: v.GenericSchema
}

const lastPage = { next_cursor: null, has_more: false }
const oneOfOne = { current_page: 1, total_pages: 1 }

export const replies: Record<OperationName, Reply> = {
  charge: {
    data: debit.chargeSchema(),
    headers: {
      'Idempotent-Replayed':
        'true if the request is a repeat and the reply shows the existing transaction',
    },
    example: { data: debit.chargeView(examples.pending) },
  },
  'get-debit-request': {
    data: debit.statusSchema(),
    example: { data: debit.statusView(examples.completed, undefined) },
  },
  'update-debit-transaction': {
    data: bankDebit.bankUpdateSchema(),
    example: { data: bankDebit.bankUpdateView(examples.completed) },
  },
  'list-debit-requests': {
    data: v.array(debit.debitSchema()),
    page: { ...numberedEntries(), ...countEntries() },
    example: {
      data: [debit.debitView(examples.failed)],
      page: { per_page: 20, ...oneOfOne, total_count: 1, ...lastPage },
    },
  },
  'list-debit-transactions': {
    data: bankDebit.bankListSchema(),
    page: numberedEntries(),
    example: {
      data: bankDebit.bankListView({
        account: examples.account,
        bank: examples.gcb,
        phone: examples.phone,
        transactions: [
          bankDebit.bankItemView(
            examples.processing,
            examples.account,
            new Map([[examples.demo, 'Demo Payments']]),
          ),
        ],
        total: { count: 1, isAtLeast: false, amount: examples.processing.facts.amount },
        filter: 'processing',
      }),
      page: { per_page: 20, ...oneOfOne, ...lastPage },
    },
  },
  'debit-callback': {
    data: bankDebit.callbackSchema(),
    example: { data: bankDebit.callbackView(examples.processing) },
  },
  'list-banks': {
    data: v.array(bankSchema()),
    // Present only if the query has page or per_page.
    page: {
      current_page: v.optional(Quantity),
      per_page: v.optional(Quantity),
      total_pages: v.optional(Quantity),
      total_count: v.optional(Quantity),
    },
    example: { data: [bankView(examples.gcb)] },
  },
  'get-bank': { data: bankDetailSchema(), example: { data: bankDetailView(examples.gcb) } },
  'lookup-customer-banks': {
    data: v.array(bankSchema()),
    topLevel: { phone_number: Phone, customer: v.string() },
    example: {
      topLevel: { phone_number: examples.phone, customer: examples.account.customerName },
      data: [bankView(examples.gcb)],
    },
  },
  'list-deliveries': {
    data: v.array(delivery.deliveryWithAttemptsSchema()),
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
    data: delivery.deliverySchema(),
    example: {
      data: delivery.deliveryView(redeliver(examples.delivered, examples.secondsLater(60))),
    },
  },
  'list-events': {
    data: v.array(eventSchema()),
    page: { per_page: Quantity, next_cursor: v.string(), has_more: v.boolean() },
    example: {
      data: [webhookPayload(examples.completed, 3)],
      page: { per_page: 20, next_cursor: examples.exampleCursors['list-events'], has_more: false },
    },
  },
  'test-webhook': {
    data: delivery.pingSchema(),
    example: {
      data: delivery.pingView(
        '5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1',
        pingAttempt(examples.response, examples.attempt),
      ),
    },
  },
  'list-settlements': {
    data: v.array(batch.batchSchema(SignedAmount)),
    page: cursorEntries(),
    example: {
      data: [batch.batchView(examples.exampleBatch)],
      page: { per_page: 20, ...lastPage },
    },
  },
  'get-settlement': {
    data: batch.batchSchema(SignedAmount),
    example: { data: batch.batchView(examples.exampleBatch) },
  },
  'get-settlement-report': {
    data: batch.reportSchema(),
    file: 'text/csv',
    redirect: v.object({ url: v.pipe(v.string(), v.url()) }),
    example: {
      data: {
        batch: batch.batchView(examples.exampleBatch),
        lines: examples.lines.map(batch.lineView),
        totals: batch.totalsView(examples.lines.reduce(addLine, noTotals), formatAmount),
      },
    },
  },
}
