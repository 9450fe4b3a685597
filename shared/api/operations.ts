import type * as v from 'valibot'
import { BankCallback, BankUpdate } from '../domain/debits/bank-update.ts'
import { CHARGE_FIELD_CODES, ChargeRequest } from '../domain/debits/charge.ts'
import { BankListQuery, DebitListQuery } from '../domain/debits/list-query.ts'
import { ReversalRequest } from '../domain/debits/reversal-request.ts'
import { PageQuery } from '../domain/page.ts'
import { type Category, type ErrorCode, Refusal } from '../domain/refusal.ts'
import {
  ReportQuery,
  SettlementListQuery,
  StatementQuery,
} from '../domain/settlement/list-query.ts'
import type { FieldCodes } from '../domain/validation.ts'
import { EventFeedQuery } from '../domain/webhooks/feed.ts'

/** One published operation. Its name is the file name of its function. */
type Row = {
  caller: 'provider' | 'bank'
  method: 'GET' | 'POST'
  /** `{name}` stands for one path segment. */
  path: string
  /** Published requests per minute, their scope, and the code of the 429. */
  limit: {
    production: number
    sandbox: number
    per: 'caller' | 'token' | 'reference'
    /** A second limit over all references of a caller. */
    perCaller?: { production: number; sandbox: number }
    code: ErrorCode
  }
  /** The function does a cheap point read and no write. It runs in parallel with the count. */
  readsInParallel?: true
  /** The refusal for a missing or foreign object. */
  notFound: { code: ErrorCode; message?: string; category?: Category }
  body?: v.GenericSchema<unknown, unknown> & { readonly entries: v.ObjectEntries }
  /** Fields whose published code is not 1007. */
  fieldCodes?: FieldCodes
  /** Fields that are validated by their source text: 100.50 is an amount, 100.5 is not. */
  decimals?: readonly string[]
  /** Name of the optional object around the fields. */
  wrapper?: string
  query?: v.GenericSchema<unknown, unknown>
  /** The names of parameters in refusals that differ from those in the query. */
  queryNames?: Record<string, string>
  status: number
}

const NOT_FOUND_BY_BANK = {
  code: 1404,
  message: 'Transaction not found',
  category: 'transactions',
} as const

/** The published limit of reads, per operation. */
const READ_LIMIT = { production: 200, sandbox: 60, per: 'caller' } as const

const providerRead = {
  caller: 'provider',
  method: 'GET',
  limit: { ...READ_LIMIT, code: 1454 },
  status: 200,
} as const

const bankReport = {
  caller: 'bank',
  method: 'POST',
  notFound: NOT_FOUND_BY_BANK,
  decimals: ['fee'],
  status: 200,
} as const

/** Lists the published operations (docs/api.md#operations). Routes, limits and validation follow from it. */
export const operations = {
  charge: {
    caller: 'provider',
    method: 'POST',
    path: '/api/v1/payment-providers/debit-requests/charge',
    limit: { production: 1000, sandbox: 100, per: 'caller', code: 1456 },
    notFound: { code: 3404 },
    body: ChargeRequest,
    fieldCodes: CHARGE_FIELD_CODES,
    decimals: ['amount'],
    wrapper: 'debit_request',
    status: 202,
  },
  'get-debit-request': {
    ...providerRead,
    path: '/api/v1/payment-providers/debit-requests/{reference}',
    limit: {
      production: 200,
      sandbox: 60,
      per: 'reference',
      perCaller: { production: 1000, sandbox: 1000 },
      code: 1454,
    },
    readsInParallel: true,
    notFound: { code: 3404 },
  },
  'update-debit-transaction': {
    ...bankReport,
    path: '/api/v1/banks/debit-transactions/{uuid}/update',
    limit: { production: 30, sandbox: 10, per: 'token', code: 1455 },
    body: BankUpdate,
  },
  'list-debit-requests': {
    ...providerRead,
    path: '/api/v1/payment-providers/debit-requests',
    notFound: { code: 3404 },
    query: DebitListQuery,
  },
  'list-debit-transactions': {
    caller: 'bank',
    method: 'GET',
    path: '/api/v1/banks/debit-transactions',
    limit: { ...READ_LIMIT, per: 'token', code: 1455 },
    notFound: NOT_FOUND_BY_BANK,
    query: BankListQuery,
    queryNames: { status: 'status_filter' },
    status: 200,
  },
  'debit-callback': {
    ...bankReport,
    path: '/api/v1/banks/debit-transactions/{uuid}/callback',
    limit: { ...READ_LIMIT, per: 'token', code: 1455 },
    body: BankCallback,
  },
  'list-banks': {
    ...providerRead,
    path: '/api/v1/payment-providers/banks',
    readsInParallel: true,
    notFound: { code: 1404 },
    query: PageQuery,
  },
  'get-bank': {
    ...providerRead,
    path: '/api/v1/payment-providers/banks/{identifier}',
    readsInParallel: true,
    notFound: { code: 1404 },
  },
  'lookup-customer-banks': {
    ...providerRead,
    path: '/api/v1/payment-providers/banks/lookup/{phone_number}',
    notFound: { code: 1404, message: 'Account not found', category: 'accounts' },
  },
  'request-reversal': {
    caller: 'provider',
    method: 'POST',
    path: '/api/v1/payment-providers/debit-requests/{reference}/reversal-request',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 3404 },
    body: ReversalRequest,
    status: 202,
  },
  'list-deliveries': {
    ...providerRead,
    path: '/api/v1/payment-providers/debit-requests/{reference}/deliveries',
    notFound: { code: 3404 },
  },
  'redeliver-event': {
    caller: 'provider',
    method: 'POST',
    path: '/api/v1/payment-providers/deliveries/{id}/redeliver',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 1404, message: 'Delivery not found', category: 'webhooks' },
    status: 202,
  },
  'list-events': {
    ...providerRead,
    path: '/api/v1/payment-providers/events',
    notFound: { code: 1404 },
    query: EventFeedQuery,
  },
  'test-webhook': {
    caller: 'provider',
    method: 'POST',
    path: '/api/v1/payment-providers/webhook/test',
    limit: { production: 10, sandbox: 10, per: 'caller', code: 1454 },
    notFound: { code: 4404 },
    status: 200,
  },
  'list-settlements': {
    ...providerRead,
    path: '/api/v1/payment-providers/settlements',
    notFound: { code: 5404 },
    query: SettlementListQuery,
  },
  'get-settlement': {
    ...providerRead,
    path: '/api/v1/payment-providers/settlements/{id}',
    readsInParallel: true,
    notFound: { code: 5404 },
  },
  'get-settlement-report': {
    ...providerRead,
    path: '/api/v1/payment-providers/settlements/{id}/report',
    notFound: { code: 5404 },
    query: ReportQuery,
  },
  'get-monthly-statement': {
    ...providerRead,
    path: '/api/v1/payment-providers/settlements/statements/{month}',
    notFound: { code: 5404, message: 'Statement not found' },
    query: StatementQuery,
  },
} as const satisfies Record<string, Row>

export type OperationName = keyof typeof operations
export type Operation = Row

export const operationNames = Object.keys(operations) as OperationName[]

/** Returns the same refusal for missing and foreign objects (docs/api.md#not-found). */
export const notFound = (name: OperationName): Refusal => {
  const { code, ...variant }: Row['notFound'] = operations[name].notFound
  return new Refusal(code, variant)
}
