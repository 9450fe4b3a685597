import type { ErrorCode } from '../domain/refusal.ts'

/** The headers of every reply, from functions, API Gateway and WAF (docs/api.md#headers). */
export const replyHeaders = {
  'Cache-Control': 'no-store',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
}

const RETRY_SECONDS = 5

/** Returns the headers of an error: how to authenticate (RFC 9110, 15.5.2), when to retry. */
export const errorHeaders = (code: ErrorCode, http: number): Record<string, string> => ({
  ...(http === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  ...(code === 1503 ? { 'Retry-After': String(RETRY_SECONDS) } : {}),
})
