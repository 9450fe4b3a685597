import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { malformed, NOT_JSON } from './json-body.ts'

const UNAVAILABLE = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionCanceledException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

type ThrownFault = {
  name?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
  cause?: { package?: string }
}

const isUnavailable = ({ name = '', code = '', $metadata }: ThrownFault): boolean =>
  UNAVAILABLE.has(name) || UNAVAILABLE.has(code) || ($metadata?.httpStatusCode ?? 0) >= 500

/** Converts a thrown value to a refusal. Logs a fault; the caller sees only 1500 or 1503. */
export const refusalFor = (thrown: unknown, ids: Record<string, string>): Refusal => {
  if (thrown instanceof Refusal) return thrown
  const error = (thrown ?? {}) as ThrownFault
  if (error.cause?.package === '@middy/http-json-body-parser') return malformed(NOT_JSON)
  log.error('fault', { ...ids, error: thrown as Error })
  return new Refusal(isUnavailable(error) ? 1503 : 1500)
}
