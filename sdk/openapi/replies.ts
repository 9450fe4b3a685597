import * as v from 'valibot'
import type { OperationName } from '../../shared/api/operations.ts'
import { bankDetailSchema, bankSchema } from '../../shared/views/bank.ts'
import { bankListSchema, bankUpdateSchema, callbackSchema } from '../../shared/views/bank-debit.ts'
import { batchSchema, reportSchema } from '../../shared/views/batch.ts'
import { chargeSchema, debitSchema, statusSchema } from '../../shared/views/debit.ts'
import {
  deliverySchema,
  deliveryWithAttemptsSchema,
  pingSchema,
} from '../../shared/views/delivery.ts'
import { Phone, Quantity, SignedAmount } from '../../shared/views/fields.ts'
import { countEntries, cursorEntries, numberedEntries } from '../../shared/views/page.ts'
import { eventSchema } from '../../shared/views/webhook-payload.ts'

export type Reply = {
  data: v.GenericSchema
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

export const replies: Record<OperationName, Reply> = {
  charge: {
    data: chargeSchema(),
    headers: {
      'Idempotent-Replayed':
        'true if the request is a repeat and the reply shows the existing transaction',
    },
  },
  'get-debit-request': { data: statusSchema() },
  'update-debit-transaction': { data: bankUpdateSchema() },
  'list-debit-requests': {
    data: v.array(debitSchema()),
    page: { ...numberedEntries(), ...countEntries() },
  },
  'list-debit-transactions': { data: bankListSchema(), page: numberedEntries() },
  'debit-callback': { data: callbackSchema() },
  'list-banks': {
    data: v.array(bankSchema()),
    // Present only if the query has page or per_page.
    page: {
      current_page: v.optional(Quantity),
      per_page: v.optional(Quantity),
      total_pages: v.optional(Quantity),
      total_count: v.optional(Quantity),
    },
  },
  'get-bank': { data: bankDetailSchema() },
  'lookup-customer-banks': {
    data: v.array(bankSchema()),
    topLevel: { phone_number: Phone, customer: v.string() },
  },
  'list-deliveries': { data: v.array(deliveryWithAttemptsSchema()) },
  'redeliver-event': { data: deliverySchema() },
  'list-events': {
    data: v.array(eventSchema()),
    page: { per_page: Quantity, next_cursor: v.string(), has_more: v.boolean() },
  },
  'test-webhook': { data: pingSchema() },
  'list-settlements': { data: v.array(batchSchema(SignedAmount)), page: cursorEntries() },
  'get-settlement': { data: batchSchema(SignedAmount) },
  'get-settlement-report': {
    data: reportSchema(),
    file: 'text/csv',
    redirect: v.object({ url: v.pipe(v.string(), v.url()) }),
  },
}
