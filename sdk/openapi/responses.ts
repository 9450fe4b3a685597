import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { refusalReply } from '../../shared/api/envelope.ts'
import {
  notFound,
  type Operation,
  type OperationName,
  operations,
} from '../../shared/api/operations.ts'
import { type Details, type ErrorCode, errors, Refusal } from '../../shared/domain/refusal.ts'
import { authorizationProblems } from '../../shared/domain/token.ts'
import { descriptions } from './descriptions.ts'
import { exampleContext } from './example-debit.ts'
import { componentRef, type Json, text } from './schemas.ts'

/** The address of the error guide in the examples. */
const ERROR_GUIDE = 'https://docs.example.com/errors'

const LIMIT = { limit: 60, period: 'minute', retry_after: 21 }

const overLimit = (code: ErrorCode): Refusal => new Refusal(code, { details: LIMIT })

/** Refusals of all operations: by the gateway, and after faults and outages. */
const commonRefusals = [
  new Refusal(1400),
  ...Object.values(authorizationProblems).map((details) => new Refusal(1401, { details })),
  new Refusal(1403),
  overLimit(1453),
  new Refusal(1429),
  new Refusal(1405),
  new Refusal(1500),
  new Refusal(1503),
  new Refusal(2408),
]

/** Refusals of providers only: allow-lists and signed requests. */
const providerRefusals = [
  new Refusal(1400, { message: 'Invalid timestamp format' }),
  ...[
    'HMAC signature required',
    'Invalid HMAC signature',
    'Request timestamp required',
    'Request timestamp expired',
  ].map((message) => new Refusal(1401, { message })),
  new Refusal(1451),
  new Refusal(1452),
]

const { REQUEST_TOO_LARGE } = gatewayResponses

const bodyRefusals = [
  new Refusal(1400, { details: ['body must be JSON'] }),
  new Refusal(REQUEST_TOO_LARGE.code, {
    http: REQUEST_TOO_LARGE.status,
    details: [...REQUEST_TOO_LARGE.details],
  }),
]

const refusalsOf = (name: OperationName): Refusal[] => {
  const operation: Operation = operations[name]
  return [
    ...commonRefusals,
    ...(operation.caller === 'provider' ? providerRefusals : []),
    ...(operation.body ? bodyRefusals : []),
    overLimit(operation.limit.code),
    ...(operation.path.includes('{') ? [notFound(name)] : []),
    ...(descriptions[name].refusals ?? []),
  ]
}

/** Returns the statuses of each code that operations reply. They can differ from its row. */
export const statusesByCode = () => {
  const statuses = new Map<ErrorCode, Set<number>>()
  for (const { code, http } of (Object.keys(operations) as OperationName[]).flatMap(refusalsOf)) {
    statuses.set(code, (statuses.get(code) ?? new Set()).add(http))
  }
  return statuses
}

const messagesIn = (details: Details = []): string[] => {
  if (typeof details === 'string') return [details]
  return Array.isArray(details) ? details : Object.values(details).filter(Array.isArray).flat()
}

/** Distinguishes the variants of a code by their messages. */
const exampleName = ({ error, details }: Refusal): string =>
  [error.code, error.message, ...messagesIn(details)]
    .join('-')
    .toLowerCase()
    .replaceAll("'", '')
    .replaceAll(/[^a-z0-9_]+/g, '-')

const exampleOf = (refusal: Refusal): Json => ({
  summary: `${refusal.error.code} ${refusal.error.message}`,
  value: JSON.parse(refusalReply(refusal, exampleContext, ERROR_GUIDE).body),
})

/** Returns the bodies of all refusals without duplicates. */
export const exampleComponents = (names: readonly OperationName[]): Json =>
  Object.fromEntries(
    names
      .flatMap(refusalsOf)
      .sort((a, b) => a.code - b.code)
      .map((refusal) => [exampleName(refusal), exampleOf(refusal)]),
  )

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** The headers of a status, next to X-Request-ID and the rate. */
const statusHeaders: Record<number, string> = {
  401: 'WWW-Authenticate',
  405: 'Allow',
  429: 'Retry-After',
  503: 'Retry-After',
}

export const headersOf = (status: number): Json => {
  // The gateway refuses large bodies before any count.
  const rate = status === REQUEST_TOO_LARGE.status ? [] : RATE_HEADERS
  const names = ['X-Request-ID', ...rate, statusHeaders[status] ?? []].flat()
  return Object.fromEntries(names.map((name) => [name, { $ref: componentRef('headers', name) }]))
}

const integer = (description: string): Json => ({ description, schema: { type: 'integer' } })

export const headerComponents: Json = {
  'X-Request-ID': { ...text('Same as meta.request_id'), required: true },
  'X-RateLimit-Limit': integer('Limit in effect, in requests per minute'),
  'X-RateLimit-Remaining': integer('Remaining requests of this minute'),
  'X-RateLimit-Reset': integer('Epoch seconds at which the minute ends'),
  'Retry-After': integer('Seconds until the next request is allowed'),
  Allow: text('Allowed methods of the path'),
  'WWW-Authenticate': text(
    'Bearer; API Gateway renames the header to X-Amzn-Remapped-WWW-Authenticate',
  ),
}

export const refusalResponses = (name: OperationName): Json => {
  const byStatus = Map.groupBy(refusalsOf(name), ({ http }) => http)
  return Object.fromEntries(
    [...byStatus].map(([status, refusals]) => [status, responseOf(status, refusals)]),
  )
}

const responseOf = (status: number, refusals: readonly Refusal[]): Json => {
  const codes = [...new Set(refusals.map(({ code }) => code))].sort((a, b) => a - b)
  const names = refusals.map(exampleName)
  return {
    description: codes.map((code) => `${code} ${errors[code].message}`).join('; '),
    headers: headersOf(status),
    // An extension, because generators lose a schema with members next to a reference.
    'x-error-codes': codes,
    content: {
      'application/json': {
        schema: { $ref: componentRef('schemas', 'Problem') },
        examples: Object.fromEntries(
          names.map((name) => [name, { $ref: componentRef('examples', name) }]),
        ),
      },
    },
  }
}
