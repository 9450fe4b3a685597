import type { MiddlewareObj } from '@middy/core'
import httpJsonBodyParser from '@middy/http-json-body-parser'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { Refusal } from '../domain/refusal.ts'
import { judgeInput } from '../domain/validation.ts'
import { environment } from '../runtime.ts'
import { type Caller, findCaller } from '../store/credentials.ts'
import { sha256 } from '../store/table.ts'
import { countRequest, type Rate } from '../store/windows.ts'
import { judgeAddress } from './address.ts'
import {
  bodyText,
  fieldsOf,
  judgeReserved,
  malformed,
  type NumberTexts,
  scan,
} from './json-body.ts'
import type { Operation } from './operations.ts'
import { judgeSignature, type SignedRequest } from './request-signature.ts'

/**
 * What may refuse a request before its function sees it. Guards throw their refusal: a value that
 * a `before` returns would skip everything that renders the reply.
 */

/** What is known of a request so far; each guard adds its part. */
export type Exchange = {
  requestId: string
  at: Date
  rate: Rate
  caller?: Caller
  /** The count of this request, under way or done. */
  counting?: Promise<Rate>
  numbers?: NumberTexts
  input?: unknown
}

export type ApiEvent = APIGatewayProxyEvent & { exchange: Exchange }

type Guard = MiddlewareObj<ApiEvent>

const orThrow = <T>(value: T | Refusal): T => {
  if (value instanceof Refusal) throw value
  return value
}

const headerValues = (event: APIGatewayProxyEvent, name: string): string[] => {
  const entries = Object.entries(event.multiValueHeaders ?? {})
  const several = entries.find(([key]) => key.toLowerCase() === name)?.[1]
  if (several) return several
  const single = Object.entries(event.headers ?? {}).find(
    ([key]) => key.toLowerCase() === name,
  )?.[1]
  return single === undefined ? [] : [single]
}

const CREDENTIAL = /^(?:Bearer|Token) ([A-Za-z0-9._~+/=-]{1,200})$/

/** A minute's failed credentials from one address before they are no longer looked at. */
const FAILURES_PER_MINUTE = 30

/** 401/1401 unless the request carries one credential of the operation's kind of caller. */
export const credentialGuard = (operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    const values = headerValues(event, 'authorization')
    const token = values.length === 1 ? CREDENTIAL.exec(values[0] ?? '')?.[1] : undefined
    const caller = token === undefined ? undefined : await findCaller(token, exchange.at)
    if (caller?.kind !== operation.caller) return refuseCredential(event)
    if (caller.kind === 'provider' && caller.partner.status === 'suspended') {
      throw new Refusal(1403)
    }
    exchange.caller = caller
  },
})

/** 401, or 429/1453 for an address that guesses. Callers with a good credential are not counted. */
const refuseCredential = async ({ exchange, requestContext }: ApiEvent): Promise<never> => {
  const address = requestContext?.identity?.sourceIp ?? 'unknown'
  const scope = `address#${sha256(address)}`
  exchange.rate = await countRequest(scope, FAILURES_PER_MINUTE, exchange.at)
  throw exchange.rate.exceeded ? rateRefusal(1453, exchange) : new Refusal(1401)
}

/** For partners who ask for it: only from their addresses (403), only signed (401). */
export const partnerGuard: Guard = {
  before: ({ event }) => {
    const { caller, at } = event.exchange
    if (caller?.kind !== 'provider') return
    const { allowedAddresses, requestSecret } = caller.partner
    if (allowedAddresses) {
      orThrow(judgeAddress(event.requestContext?.identity?.sourceIp, allowedAddresses))
    }
    if (requestSecret) orThrow(judgeSignature(signedRequest(event), requestSecret, at))
  },
}

const single = (values: string[]): string | undefined =>
  values.length === 1 ? values[0] : undefined

const signedRequest = (event: ApiEvent): SignedRequest => ({
  method: event.httpMethod,
  paths: signedPaths(event),
  body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  signature: single(headerValues(event, 'x-signature')),
  timestamp: single(headerValues(event, 'x-timestamp')),
})

/**
 * The path as the caller wrote it. The gateway hands it over decoded, and the query only as pairs,
 * so the encoded spelling is tried beside the plain one.
 */
const signedPaths = ({ path, multiValueQueryStringParameters }: ApiEvent): string[] => {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(
    ([key, values = []]) => values.map((value) => [key, value] as const),
  )
  const spell = (write: (text: string) => string) =>
    pairs.length === 0
      ? ''
      : `?${pairs.map(([key, value]) => `${write(key)}=${write(value)}`).join('&')}`
  const encodedPath = path.split('/').map(encodeURIComponent).join('/')
  return [
    path + spell(encodeURIComponent),
    path + spell(String),
    encodedPath + spell(encodeURIComponent),
  ]
}

const rateRefusal = (code: 1453 | Operation['limit']['code'], { rate, at }: Exchange): Refusal => {
  const retryAfter = Math.max(1, rate.reset - Math.floor(at.getTime() / 1000))
  return new Refusal(code, {
    details: { limit: rate.limit, period: 'minute', retry_after: retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  })
}

const scopeOf = (name: string, operation: Operation, event: ApiEvent): string => {
  const { caller } = event.exchange
  const owner = caller?.kind === 'provider' ? caller.partner.id : caller?.bank
  const scope = `${name}#${owner}`
  // The reference is the caller's text: only its hash may stand in a key.
  return operation.limit.per === 'reference'
    ? `${scope}#${sha256(event.pathParameters?.reference ?? '')}`
    : scope
}

/**
 * Counts the request. What changes something waits for the count; a read goes on beside it, and
 * the reply waits for both.
 */
export const rateGuard = (name: string, operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    const limit = operation.limit[environment.limits]
    exchange.counting = countRequest(scopeOf(name, operation, event), limit, exchange.at)
    // Whoever awaits the count sees its failure; until then it must not end the process.
    exchange.counting.catch(() => undefined)
    if (operation.method !== 'GET') await settleRate(operation, exchange)
  },
})

/** Waits for the count; 429 with the operation's own code above the limit. */
export const settleRate = async (operation: Operation, exchange: Exchange): Promise<void> => {
  if (!exchange.counting) return
  exchange.rate = await exchange.counting
  if (exchange.rate.exceeded) throw rateRefusal(operation.limit.code, exchange)
}

const JSON_UTF8 = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

/** The text-level rules of a body, before it is parsed: 400/1400. */
const textGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    const [contentType = ''] = headerValues(event, 'content-type')
    if (!JSON_UTF8.test(contentType)) throw malformed('Content-Type must be application/json')
    const text = orThrow(bodyText(event.body, event.isBase64Encoded))
    const scanned = orThrow(scan(text))
    orThrow(judgeReserved(text, scanned, operation))
    event.exchange.numbers = scanned.numbers
    event.body = text
    event.isBase64Encoded = false
  },
})

/** Holds the parsed body against the operation's schema: 422/1007, or a field's own code. */
const inputGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    const { exchange } = event
    const fields = orThrow(fieldsOf(event.body, exchange.numbers ?? new Map(), operation))
    if (!operation.body) return
    exchange.input = orThrow(judgeInput(operation.body, fields, operation.fieldCodes))
  },
})

/** Everything between the bytes of a body and the input of a function, in order. */
export const bodyGuards = (operation: Operation): Guard[] =>
  operation.body
    ? [
        textGuard(operation),
        httpJsonBodyParser({ disableContentTypeCheck: true }) as Guard,
        inputGuard(operation),
      ]
    : []
