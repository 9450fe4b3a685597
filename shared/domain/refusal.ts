/** The error table of the service (docs/api.md#errors), and the value that returns an error to a caller. */

type Severity = 'low' | 'medium' | 'high' | 'critical'

const row = <const C extends string>(
  message: string,
  category: C,
  http: number,
  severity: Severity,
) => ({ message, category, http, severity })

export const errors = {
  1000: row('An unexpected error occurred', 'general', 500, 'critical'),
  1007: row('Validation failed', 'validation', 422, 'low'),
  1010: row('Validation error', 'general', 422, 'low'),
  1020: row('Resource not found', 'general', 404, 'low'),
  1400: row('Bad request', 'request', 400, 'low'),
  1401: row('Unauthorized', 'authentication', 401, 'high'),
  1402: row('Bank identifier not supported', 'banks', 402, 'low'),
  1403: row('Forbidden', 'authorization', 403, 'high'),
  1404: row('Resource not found', 'general', 404, 'low'),
  1405: row('Method not allowed', 'request', 405, 'low'),
  1409: row('Request conflicts with current state', 'general', 409, 'medium'),
  1422: row('Invalid record', 'validation', 422, 'low'),
  1429: row('Too many requests', 'rate_limiting', 429, 'medium'),
  1451: row('IP address not authorized', 'security', 403, 'high'),
  1452: row('IP address validation failed', 'security', 403, 'medium'),
  1453: row('Rate limit exceeded for IP address', 'security', 429, 'medium'),
  1454: row('Rate limit exceeded for payment partner', 'security', 429, 'medium'),
  1455: row('Rate limit exceeded for bank', 'security', 429, 'medium'),
  1456: row('Payment processing rate limit exceeded', 'security', 429, 'high'),
  1500: row('Internal server error', 'general', 500, 'high'),
  1503: row('Service temporarily unavailable', 'availability', 503, 'high'),
  2001: row('Bank connector error', 'connectors', 502, 'high'),
  2002: row('Bank API error', 'connectors', 502, 'high'),
  2003: row('No connector available for bank', 'connectors', 503, 'high'),
  2010: row('Authentication failed', 'security', 401, 'high'),
  2030: row('Rate limit exceeded', 'security', 429, 'medium'),
  2100: row('Bank connector error', 'connectors', 502, 'high'),
  2408: row('Upstream service timeout', 'connectors', 504, 'high'),
  2500: row('Upstream service error', 'connectors', 502, 'high'),
  2502: row('Upstream connection failed', 'connectors', 502, 'high'),
  3001: row('Invalid status transition', 'transactions', 400, 'medium'),
  3002: row('Invalid approval method', 'transactions', 400, 'low'),
  3003: row('Duplicate transaction reference', 'transactions', 409, 'medium'),
  3004: row('Unsupported currency (must be GHS)', 'transactions', 400, 'low'),
  3005: row('Transaction limit exceeded', 'transactions', 400, 'medium'),
  3006: row('Transaction already processed', 'transactions', 409, 'medium'),
  3007: row('Invalid transaction amount', 'transactions', 400, 'low'),
  3008: row('Account is inactive', 'accounts', 400, 'medium'),
  3009: row('Insufficient funds', 'accounts', 400, 'medium'),
  3404: row('Transaction not found', 'transactions', 404, 'low'),
  3422: row('Validation failed', 'validation', 422, 'low'),
  4001: row('Webhook delivery failed', 'webhooks', 502, 'high'),
  4400: row('Invalid webhook payload', 'webhooks', 400, 'low'),
  4401: row('Invalid webhook signature', 'webhooks', 401, 'high'),
  4403: row('Partner not subscribed to event', 'webhooks', 403, 'medium'),
  4404: row('Webhook not configured for partner', 'webhooks', 404, 'low'),
  4408: row('Webhook delivery timeout', 'webhooks', 408, 'medium'),
  5001: row('Settlement batch cannot be processed', 'settlements', 400, 'medium'),
  5002: row('No transactions to settle', 'settlements', 400, 'medium'),
  5003: row('Settlement currency not supported', 'settlements', 400, 'low'),
  5004: row('Settlement line item transaction type invalid', 'settlements', 400, 'low'),
  5005: row('Settlement batch already processed', 'settlements', 409, 'medium'),
  5404: row('Settlement batch not found', 'settlements', 404, 'low'),
} as const

export type ErrorCode = keyof typeof errors
export type Category = (typeof errors)[ErrorCode]['category']

/**
 * Returns `doc_url`, the address of a code in the error guide (docs/errors.md#codes). Without a guide
 * the error has no such member.
 */
export const docUrl = (code: ErrorCode, guide: string | undefined): { doc_url?: string } =>
  guide ? { doc_url: `${guide}#c${code}` } : {}

/** Messages by field name, as validation replies show them. */
export type FieldMessages = Record<string, string[]>

export type Details = FieldMessages | Record<string, string | number | string[]> | string | string[]

type RefusalVariant = {
  details?: Details
  /** Some codes are published with several messages, categories or statuses. */
  message?: string
  category?: Category
  http?: number
  /** Headers of the reply, such as Allow or Retry-After. */
  headers?: Record<string, string>
}

/** An expected error with a published code. Domain functions return it; only the API throws it. */
export class Refusal {
  readonly code: ErrorCode
  readonly variant: RefusalVariant

  constructor(code: ErrorCode, variant: RefusalVariant = {}) {
    this.code = code
    this.variant = variant
  }

  get http(): number {
    return this.variant.http ?? errors[this.code].http
  }

  get details(): Details | undefined {
    return this.variant.details
  }

  get error(): { code: ErrorCode; message: string; category: Category; severity: Severity } {
    const { message, category, severity } = errors[this.code]
    return {
      code: this.code,
      message: this.variant.message ?? message,
      category: this.variant.category ?? category,
      severity,
    }
  }
}

/** Applies `next` to a value. Returns a refusal unchanged. */
export const unlessRefused = <T, U>(value: T | Refusal, next: (value: T) => U): U | Refusal =>
  value instanceof Refusal ? value : next(value)

/** Returns 422/1007 with messages by field (docs/api.md#validation). */
export const invalid = (fields: FieldMessages): Refusal => new Refusal(1007, { details: fields })
