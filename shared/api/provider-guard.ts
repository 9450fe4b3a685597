import { judgeAddress } from './address.ts'
import { type ApiEvent, type Guard, headerValues, orThrow } from './exchange.ts'
import { judgeSignature, type SignedRequest } from './request-signature.ts'

/** Checks the address (403) and the request signature (401) of providers whose settings ask for it. */
export const providerGuard: Guard = {
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
