import * as v from 'valibot'
import type { Success } from '../../shared/api/envelope.ts'
import type { OperationName } from '../../shared/api/operations.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { addLine, noTotals } from '../../shared/domain/settlement/batch.ts'
import { pingAttempt } from '../../shared/domain/webhooks/attempt.ts'
import { redeliver } from '../../shared/domain/webhooks/delivery.ts'
import { bankDetailSchema, bankDetailView, bankSchema, bankView } from '../../shared/views/bank.ts'
import {
  bankItemView,
  bankListSchema,
  bankListView,
  bankUpdateSchema,
  bankUpdateView,
  callbackSchema,
  callbackView,
} from '../../shared/views/bank-debit.ts'
import {
  batchSchema,
  batchView,
  lineView,
  reportSchema,
  totalsView,
} from '../../shared/views/batch.ts'
import {
  chargeSchema,
  chargeView,
  debitSchema,
  debitView,
  statusSchema,
  statusView,
} from '../../shared/views/debit.ts'
import {
  deliverySchema,
  deliveryView,
  deliveryWithAttempts,
  deliveryWithAttemptsSchema,
  pingSchema,
  pingView,
} from '../../shared/views/delivery.ts'
import { Phone, Quantity, SignedAmount } from '../../shared/views/fields.ts'
import { countEntries, cursorEntries, numberedEntries } from '../../shared/views/page.ts'
import { eventSchema, webhookPayload } from '../../shared/views/webhook-payload.ts'
import {
  account,
  attempt,
  completed,
  delivered,
  demo,
  exampleBatch,
  exampleCursors,
  failed,
  gcb,
  lines,
  pending,
  phone,
  processing,
  response,
  secondsLater,
} from './example-debit.ts'

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
    data: chargeSchema(),
    headers: {
      'Idempotent-Replayed':
        'true if the request is a repeat and the reply shows the existing transaction',
    },
    example: { data: chargeView(pending) },
  },
  'get-debit-request': {
    data: statusSchema(),
    example: { data: statusView(completed, undefined) },
  },
  'update-debit-transaction': {
    data: bankUpdateSchema(),
    example: { data: bankUpdateView(completed) },
  },
  'list-debit-requests': {
    data: v.array(debitSchema()),
    page: { ...numberedEntries(), ...countEntries() },
    example: {
      data: [debitView(failed)],
      page: { per_page: 20, ...oneOfOne, total_count: 1, ...lastPage },
    },
  },
  'list-debit-transactions': {
    data: bankListSchema(),
    page: numberedEntries(),
    example: {
      data: bankListView({
        account,
        bank: gcb,
        phone,
        transactions: [bankItemView(processing, account, new Map([[demo, 'Demo Payments']]))],
        total: { count: 1, isAtLeast: false, amount: processing.facts.amount },
        filter: 'processing',
      }),
      page: { per_page: 20, ...oneOfOne, ...lastPage },
    },
  },
  'debit-callback': { data: callbackSchema(), example: { data: callbackView(processing) } },
  'list-banks': {
    data: v.array(bankSchema()),
    // Present only if the query has page or per_page.
    page: {
      current_page: v.optional(Quantity),
      per_page: v.optional(Quantity),
      total_pages: v.optional(Quantity),
      total_count: v.optional(Quantity),
    },
    example: { data: [bankView(gcb)] },
  },
  'get-bank': { data: bankDetailSchema(), example: { data: bankDetailView(gcb) } },
  'lookup-customer-banks': {
    data: v.array(bankSchema()),
    topLevel: { phone_number: Phone, customer: v.string() },
    example: {
      topLevel: { phone_number: phone, customer: account.customerName },
      data: [bankView(gcb)],
    },
  },
  'list-deliveries': {
    data: v.array(deliveryWithAttemptsSchema()),
    example: {
      data: [
        deliveryWithAttempts({
          delivery: delivered,
          attempts: delivered.last ? [delivered.last] : [],
        }),
      ],
    },
  },
  'redeliver-event': {
    data: deliverySchema(),
    example: { data: deliveryView(redeliver(delivered, secondsLater(60))) },
  },
  'list-events': {
    data: v.array(eventSchema()),
    page: { per_page: Quantity, next_cursor: v.string(), has_more: v.boolean() },
    example: {
      data: [webhookPayload(completed, 3)],
      page: { per_page: 20, next_cursor: exampleCursors['list-events'], has_more: false },
    },
  },
  'test-webhook': {
    data: pingSchema(),
    example: {
      data: pingView('5f2b7a0e-6d0e-4b0e-9c39-0d0a52a4f6c1', pingAttempt(response, attempt)),
    },
  },
  'list-settlements': {
    data: v.array(batchSchema(SignedAmount)),
    page: cursorEntries(),
    example: { data: [batchView(exampleBatch)], page: { per_page: 20, ...lastPage } },
  },
  'get-settlement': { data: batchSchema(SignedAmount), example: { data: batchView(exampleBatch) } },
  'get-settlement-report': {
    data: reportSchema(),
    file: 'text/csv',
    redirect: v.object({ url: v.pipe(v.string(), v.url()) }),
    example: {
      data: {
        batch: batchView(exampleBatch),
        lines: lines.map(lineView),
        totals: totalsView(lines.reduce(addLine, noTotals), formatAmount),
      },
    },
  },
}
