import { Refusal } from '../domain/refusal.ts'
import { isMistyped } from '../domain/token.ts'
import { findCaller } from '../store/credentials.ts'
import { sha256 } from '../store/table.ts'
import { countRequest } from '../store/windows.ts'
import { judgeAddress } from './address.ts'
import { type ApiEvent, type Guard, headerValues, orThrow } from './exchange.ts'
import type { Operation } from './operations.ts'
import { rateRefusal } from './rate-guard.ts'
import { judgeSignature, type SignedRequest } from './request-signature.ts'

const CREDENTIAL = /^(?:Bearer|Token) ([A-Za-z0-9._~+/=-]{1,200})$/

/** A minute's failed credentials from one address before they are answered with 429. */
const FAILURES_PER_MINUTE = 30

/** 401/1401 unless the request carries one credential of the operation's kind of caller. */
export const credentialGuard = (operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    const values = headerValues(event, 'authorization')
    const token = values.length === 1 ? CREDENTIAL.exec(values[0] ?? '')?.[1] : undefined
    // What cannot be a token is not looked for.
    const isGood = token !== undefined && !isMistyped(token)
    const caller = isGood ? await findCaller(token, exchange.at) : undefined
    if (caller?.kind !== operation.caller) return refuseCredential(event)
    if (caller.suspended) throw new Refusal(1403)
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
 * The spellings of path and query that the caller may have signed. The gateway hands the path over
 * decoded and without its stage, and the query as pairs, so each is spelled again; a plain query
 * counts only where it reads back as the very same pairs.
 */
const signedPaths = (event: ApiEvent): string[] => {
  const pairs = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(
    ([key, values = []]) => values.map((value): [string, string] => [key, value]),
  )
  const paths = [event.path, event.requestContext?.path ?? event.path]
  const spelled = new Set([...paths, ...paths.map(encodedPath)])
  return [...spelled].flatMap((path) => queries(pairs).map((query) => path + query))
}

const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

const queries = (pairs: [string, string][]): string[] => {
  if (pairs.length === 0) return ['']
  const encoded = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  const plain = pairs.map((pair) => pair.join('=')).join('&')
  const readsBack = JSON.stringify([...new URLSearchParams(plain)]) === JSON.stringify(pairs)
  return [`?${encoded}`, ...(readsBack ? [`?${plain}`] : [])]
}
