import type * as v from 'valibot'
import { BankCallback, BankUpdate } from '../domain/debits/bank-update.ts'
import { CHARGE_FIELD_CODES, ChargeRequest } from '../domain/debits/charge.ts'
import { BankListQuery, DebitListQuery } from '../domain/debits/list-query.ts'
import { PageQuery } from '../domain/page.ts'
import { type Category, type ErrorCode, Refusal } from '../domain/refusal.ts'
import { ReportQuery, SettlementListQuery } from '../domain/settlement/list-query.ts'
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
  /** The function does one cheap point read, which runs in parallel with the count. */
  readsInParallel?: true
  /** The refusal for a missing or foreign object. */
  notFound: { code: ErrorCode; message?: string; category?: Category }
  body?: v.GenericSchema<unknown, unknown>
  /** Fields whose published code is not 1007. */
  fieldCodes?: FieldCodes
  /** Fields that are validated by their source text: 100.50 is an amount, 100.5 is not. */
  decimals?: readonly string[]
  /** Name of the optional object around the fields. */
  wrapper?: string
  query?: v.GenericSchema<unknown, unknown>
  /** Published names of parameters in refusals. */
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
    caller: 'provider',
    method: 'GET',
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
    status: 200,
  },
  'update-debit-transaction': {
    caller: 'bank',
    method: 'POST',
    path: '/api/v1/banks/debit-transactions/{uuid}/update',
    limit: { production: 30, sandbox: 10, per: 'token', code: 1455 },
    notFound: NOT_FOUND_BY_BANK,
    body: BankUpdate,
    decimals: ['fee'],
    status: 200,
  },
  'list-debit-requests': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/debit-requests',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 3404 },
    query: DebitListQuery,
    status: 200,
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
    caller: 'bank',
    method: 'POST',
    path: '/api/v1/banks/debit-transactions/{uuid}/callback',
    limit: { ...READ_LIMIT, per: 'token', code: 1455 },
    notFound: NOT_FOUND_BY_BANK,
    body: BankCallback,
    decimals: ['fee'],
    status: 200,
  },
  'list-banks': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/banks',
    limit: { ...READ_LIMIT, code: 1454 },
    readsInParallel: true,
    notFound: { code: 1404 },
    query: PageQuery,
    status: 200,
  },
  'get-bank': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/banks/{identifier}',
    limit: { ...READ_LIMIT, code: 1454 },
    readsInParallel: true,
    notFound: { code: 1404 },
    status: 200,
  },
  'lookup-customer-banks': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/banks/lookup/{phone_number}',
    limit: { ...READ_LIMIT, code: 1454 },
    readsInParallel: true,
    notFound: { code: 1404, message: 'Account not found', category: 'accounts' },
    status: 200,
  },
  'list-deliveries': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/debit-requests/{reference}/deliveries',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 3404 },
    status: 200,
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
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/events',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 1404 },
    query: EventFeedQuery,
    status: 200,
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
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/settlements',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 5404 },
    query: SettlementListQuery,
    status: 200,
  },
  'get-settlement': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/settlements/{id}',
    limit: { ...READ_LIMIT, code: 1454 },
    readsInParallel: true,
    notFound: { code: 5404 },
    status: 200,
  },
  'get-settlement-report': {
    caller: 'provider',
    method: 'GET',
    path: '/api/v1/payment-providers/settlements/{id}/report',
    limit: { ...READ_LIMIT, code: 1454 },
    notFound: { code: 5404 },
    query: ReportQuery,
    status: 200,
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
