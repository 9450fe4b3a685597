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
])

type Thrown = {
  name?: string
  code?: string
  $metadata?: { httpStatusCode?: number }
  cause?: { package?: string }
}

/** Whether a call to AWS failed in a way that passes: throttled, overloaded, out of reach. */
const isUnavailable = ({ name = '', code = '', $metadata }: Thrown): boolean =>
  UNAVAILABLE.has(name) || UNAVAILABLE.has(code) || ($metadata?.httpStatusCode ?? 0) >= 500

/**
 * What the caller is told about something thrown. A refusal is an answer; everything else is a
 * fault, logged here once, of which the caller learns no more than that it happened.
 */
export const refusalFor = (thrown: unknown, ids: Record<string, string>): Refusal => {
  if (thrown instanceof Refusal) return thrown
  const error = (thrown ?? {}) as Thrown
  if (error.cause?.package === '@middy/http-json-body-parser') return malformed(NOT_JSON)
  log.error('fault', { ...ids, error: thrown as Error })
  return new Refusal(isUnavailable(error) ? 1503 : 1500)
}
