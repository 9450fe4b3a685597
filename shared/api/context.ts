import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { Refusal } from '../domain/refusal.ts'
import type { Caller } from '../store/providers/credentials.ts'
import type { RateStanding } from '../store/rate-limit.ts'
import type { NumberTexts } from './json-body.ts'

/** What is known of a request so far; each guard adds its part. */
export type RequestContext = {
  requestId: string
  at: Date
  rate: RateStanding
  caller?: Caller
  /** The credential was rejected, or its use: 401, 403, or 429/1453 above the limit of these. */
  credentialRefused?: true
  /** The read that runs while the request is counted. */
  prefetched?: Promise<unknown> | undefined
  /** The count of this request, under way or done. */
  counting?: Promise<RateStanding>
  /** Returns the body as the caller sent it. */
  body?: () => string
  numbers?: NumberTexts
  input?: unknown
  query?: unknown
}

export type ApiEvent = APIGatewayProxyEvent & { context: RequestContext }

/**
 * What may refuse a request before its function sees it. Guards throw their refusal: a value that
 * a `before` returns would skip everything that renders the reply.
 */
export type Guard = MiddlewareObj<ApiEvent>

export const orThrow = <T>(value: T | Refusal): T => {
  if (value instanceof Refusal) throw value
  return value
}

/** Every value of a header, whose name is given in lower case; names are spelled as callers like. */
export const headerValues = (event: APIGatewayProxyEvent, name: string): string[] => {
  const isWanted = ([key]: [string, unknown]) => key.toLowerCase() === name
  const several = Object.entries(event.multiValueHeaders ?? {}).filter(isWanted)
  if (several.length > 0) return several.flatMap(([, values]) => values ?? [])
  return Object.entries(event.headers ?? {})
    .filter(isWanted)
    .flatMap(([, value]) => value ?? [])
}
