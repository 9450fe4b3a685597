import * as v from 'valibot'
import type { OperationName } from '../api/operations.ts'
import { statuses } from '../domain/debits/lifecycle.ts'
import { Reference, Uuid } from '../domain/ids.ts'
import { BatchId } from '../domain/settlement/batch.ts'
import { errorClasses } from '../domain/webhooks/attempt.ts'
import { EventType } from '../domain/webhooks/event-type.ts'
import { batchShape, lineShape, SignedAmount, totalsShape } from './batch-shape.ts'
import {
  AmountText,
  ApprovalView,
  BankShape,
  ErrorDetails,
  Phone,
  refundShape,
  Time,
  transactionShape,
} from './transaction-shape.ts'
import { Payload, SettlementPayload } from './webhook-payload.ts'

/**
 * What each operation answers with, as schemas of the views in this folder. The description of the
 * API is made from them; no function imports them.
 */

type Reply = {
  data: v.GenericSchema
  /** Members next to `data`. */
  beside?: v.ObjectEntries
  /** Members of `meta` that tell where a list stands. */
  page?: v.ObjectEntries
  /** Headers of its own. */
  headers?: Record<string, string>
  /** The type of the file that may be asked for instead. */
  file?: string
  /** Answered with 303 where it is too large for a reply: where it is to be fetched. */
  elsewhere?: v.GenericSchema
}

const status = v.picklist(statuses)
const integerId = v.pipe(v.number(), v.integer())
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
/** As banks spell it. */
const bankApproval = v.picklist(['ussd', 'mobile_api', 'web', 'direct'])

const textTransaction = transactionShape({ statuses, amount: AmountText })
const numberTransaction = transactionShape({ statuses, amount: v.number() })

/** A debit as its provider reads it. */
const providerDebit = {
  ...textTransaction,
  metadata: v.record(v.string(), v.unknown()),
  error_details: v.nullable(ErrorDetails),
}

const cursorPage = {
  per_page: count,
  next_cursor: v.nullable(v.string()),
  has_more: v.boolean(),
}

/** A page by cursor has no number and no totals. */
const numberedPage = {
  ...cursorPage,
  current_page: v.optional(count),
  total_pages: v.optional(count),
}

const total_is_at_least = v.optional(v.literal(true))

const reason = v.nullable(
  v.object({ code: v.picklist([4001, 4403, 4404, 4408]), message: v.string() }),
)

const deliveryRecord = {
  id: integerId,
  reference: Reference,
  event: EventType,
  event_id: v.string(),
  status: v.picklist(['pending', 'delivered', 'failed', 'abandoned']),
  attempt_count: count,
  max_attempts: count,
  response_code: v.nullable(integerId),
  response_body: v.nullable(v.string()),
  next_attempt_at: v.nullable(Time),
  delivered_at: v.nullable(Time),
  failed_at: v.nullable(Time),
  reason,
}

const tried = {
  at: Time,
  duration_ms: count,
  address: v.nullable(v.string()),
  response_code: v.nullable(integerId),
  response_body: v.nullable(v.string()),
  error_class: v.nullable(v.picklist([...new Set(Object.values(errorClasses))])),
  cause: v.nullable(v.picklist(Object.keys(errorClasses) as (keyof typeof errorClasses)[])),
}

export const replies = {
  charge: {
    data: v.object({
      reference: Reference,
      status,
      response: v.object({
        uuid: Uuid,
        status,
        timestamp: Time,
        reference: Reference,
        bank: BankShape,
      }),
    }),
    headers: {
      'Idempotent-Replayed':
        'true if the request is a repeat and the reply shows the existing transaction',
    },
  },
  'get-debit-request': {
    data: v.object({
      ...providerDebit,
      refund: v.nullable(refundShape(AmountText)),
      settlement: v.nullable(v.object({ batch_id: BatchId, adjusted_in: v.nullable(BatchId) })),
      response: v.object({
        uuid: Uuid,
        status,
        timestamp: Time,
        processed_at: v.nullable(Time),
        completed_at: v.nullable(Time),
        bank_reference: v.nullable(v.string()),
        approval_method: v.nullable(ApprovalView),
        error_message: v.nullable(v.string()),
        error_details: v.nullable(ErrorDetails),
      }),
    }),
  },
  'update-debit-transaction': {
    data: v.object({
      id: integerId,
      uuid: Uuid,
      reference: Reference,
      status,
      approval_method: v.nullable(bankApproval),
      bank_reference: v.nullable(v.string()),
      error_message: v.nullable(v.string()),
      fee: v.nullable(AmountText),
      updated_at: Time,
    }),
  },
  'list-debit-requests': {
    data: v.array(v.object(providerDebit)),
    page: { ...numberedPage, total_count: v.optional(count), total_is_at_least },
  },
  'list-debit-transactions': {
    data: v.object({
      customer: v.string(),
      phone_number: Phone,
      bank: BankShape,
      transactions: v.array(
        v.object({
          ...numberTransaction,
          id: integerId,
          approval_method: v.nullable(bankApproval),
          metadata: v.record(v.string(), v.unknown()),
          account: v.object({
            account_number: v.string(),
            account_name: v.string(),
            account_type: v.string(),
          }),
          payment_partner: v.object({ name: v.string(), partner_reference: v.string() }),
        }),
      ),
      total_count: v.optional(count),
      total_amount: v.optional(v.number()),
      total_is_at_least,
      status_filter: v.picklist([
        'pending',
        'processing',
        'completed',
        'failed',
        'all',
        'cancelled',
      ]),
    }),
    page: numberedPage,
  },
  'debit-callback': {
    data: v.object({ ...textTransaction, approval_method: v.nullable(bankApproval) }),
  },
  'list-banks': {
    data: v.array(BankShape),
    // Only for who asks for a page.
    page: {
      current_page: v.optional(count),
      per_page: v.optional(count),
      total_pages: v.optional(count),
      total_count: v.optional(count),
    },
  },
  'get-bank': {
    data: v.object({
      ...BankShape.entries,
      status: v.literal('live'),
      connector_type: v.picklist(['ussd', 'mobile_api', 'both']),
      metadata: v.object({
        ussd_code: v.optional(v.string()),
        app_config: v.optional(v.object({ package_name: v.string() })),
      }),
    }),
  },
  'lookup-customer-banks': {
    data: v.array(BankShape),
    beside: { phone_number: Phone, customer: v.string() },
  },
  'list-deliveries': {
    data: v.array(
      v.object({
        ...deliveryRecord,
        attempts: v.array(
          v.object({
            attempt: count,
            ...tried,
            request_headers: v.record(v.string(), v.string()),
          }),
        ),
      }),
    ),
  },
  'redeliver-event': { data: v.object(deliveryRecord) },
  'list-events': {
    data: v.array(v.union([Payload, SettlementPayload])),
    page: { per_page: count, next_cursor: v.string(), has_more: v.boolean() },
  },
  'test-webhook': {
    data: v.object({
      event: v.literal('ping'),
      event_id: v.string(),
      delivered: v.boolean(),
      ...tried,
      reason,
    }),
  },
  'list-settlements': {
    data: v.array(batchShape(SignedAmount)),
    page: cursorPage,
  },
  'get-settlement': { data: batchShape(SignedAmount) },
  'get-settlement-report': {
    data: v.object({
      batch: batchShape(SignedAmount),
      lines: v.array(lineShape),
      totals: totalsShape,
    }),
    file: 'text/csv',
    elsewhere: v.object({ url: v.pipe(v.string(), v.url()) }),
  },
} as const satisfies Record<OperationName, Reply>
