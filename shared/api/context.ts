import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Reference } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import type { Caller } from '../store/providers/credentials.ts'
import type { RateStanding } from '../store/rate-limit.ts'
import type { NumberTexts } from './json-body.ts'

type HeaderValues = Map<string, string[]>

/** The state of a request; each guard adds its part. */
export type RequestContext = {
  requestId: string
  /** All values of each header, by its name in lower case. */
  headers: HeaderValues
  at: Date
  /** `at` by this machine, for rate limits and signatures. */
  receivedAt: Date
  rate: RateStanding
  caller?: Caller
  /** The credential or its use was rejected: 401, 403 or 429/1453. */
  credentialRefused?: true
  /** The caller has a token that the stage can have issued; any other request is anonymous. */
  hasToken?: boolean
  /** The reply is 503/2003: a refusal, and no fault. */
  isBankUnavailable?: true
  /** The read that runs in parallel with the count. */
  prefetched?: Promise<unknown> | undefined
  counting?: Promise<RateStanding>
  /** Returns the body as the caller sent it. */
  body?: () => string
  numbers?: NumberTexts
  input?: unknown
  query?: unknown
  /** The debit or batch that the reply shows. */
  reference?: Reference | undefined
}

export type ApiEvent = APIGatewayProxyEvent & { context: RequestContext }

/** A check before the function. It throws its refusal; a value from `before` would skip the reply. */
export type Guard = MiddlewareObj<ApiEvent>

const REQUEST_ID = /^[\w+/=-]{8,64}$/

/**
 * Returns the id that API Gateway generated for a request. Events without one, such as samples, use
 * `requestId`, which a caller can set with X-Amzn-RequestId.
 */
export const requestIdOf = (
  { requestContext }: Pick<APIGatewayProxyEvent, 'requestContext'>,
  { newId }: Pick<Runtime, 'newId'>,
): string => {
  const id = requestContext?.extendedRequestId ?? requestContext?.requestId
  return id && REQUEST_ID.test(id) ? id : newId()
}

export const orThrow = <T>(value: T | Refusal): T => {
  if (value instanceof Refusal) throw value
  return value
}

const addHeader = (headers: HeaderValues, name: string, values: string[]): void => {
  const key = name.toLowerCase()
  headers.set(key, headers.get(key)?.concat(values) ?? values)
}

/** Returns all values of each header, by its name in lower case. */
export const headersOf = ({
  headers,
  multiValueHeaders,
}: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>): HeaderValues => {
  const multiple: HeaderValues = new Map()
  for (const name in multiValueHeaders) addHeader(multiple, name, multiValueHeaders[name] ?? [])
  // API Gateway sends each header in both forms; samples may have only one.
  const others: HeaderValues = new Map()
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !multiple.has(name.toLowerCase())) addHeader(others, name, [value])
  }
  return others.size === 0 ? multiple : new Map([...others, ...multiple])
}
