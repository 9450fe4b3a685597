import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import {
  errorBody,
  type GatewayResponse,
  gatewayHeaders,
  gatewayResponses,
} from '../infra/definitions/gateway-responses.ts'
import { environment } from '../shared/runtime.ts'
import { newRequestId } from './gateway-event.ts'

/** Returns the address at which the sandbox serves docs/errors.md. */
export const errorGuideAt = (host: string): string => `http://${host}/docs/guides/errors`

/** The sandbox's general limit; these replies do not count towards it. */
const LIMIT_PER_MINUTE = 30

/** Returns the limit of replies that no function makes. */
export const unusedRate = (now: number) => ({
  limit: LIMIT_PER_MINUTE,
  remaining: LIMIT_PER_MINUTE,
  reset: (Math.floor(now / 60_000) + 1) * 60,
  exceeded: false,
})

const rateHeaders = ({ limit, remaining, reset }: ReturnType<typeof unusedRate>) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(reset),
})

export const sandboxReply = (
  type: GatewayResponse,
  { statusCode = gatewayResponses[type].status as number, requestId = newRequestId() } = {},
): APIGatewayProxyResult => {
  const headers = {
    ...gatewayHeaders(gatewayResponses[type]),
    ...rateHeaders(unusedRate(Date.now())),
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-ID': requestId,
  }
  const body = errorBody(gatewayResponses[type], requestId, environment.errorGuide)
  return { statusCode, headers, body }
}

const headersOf = ({ headers, body }: APIGatewayProxyResult): OutgoingHttpHeaders => ({
  ...(headers as OutgoingHttpHeaders),
  'Content-Length': Buffer.byteLength(body),
})

export const sendReply = (response: ServerResponse, reply: APIGatewayProxyResult): void => {
  // A function returns no body for HEAD, so the length is unknown.
  const headers = response.req.method === 'HEAD' ? reply.headers : headersOf(reply)
  response.writeHead(reply.statusCode, headers as OutgoingHttpHeaders).end(reply.body)
}

/** Replies to a request without reading its body, and closes the connection. */
export const sendReplyAndClose = (response: ServerResponse, reply: APIGatewayProxyResult): void => {
  response.setHeader('Connection', 'close')
  response.once('finish', () => response.req.destroy())
  sendReply(response, reply)
}

/** Returns a reply as text, for a socket without a readable request. */
export const rawReply = (type: GatewayResponse): string => {
  const reply = sandboxReply(type)
  const headers = { ...headersOf(reply), Connection: 'close' }
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const statusLine = `HTTP/1.1 ${reply.statusCode} ${STATUS_CODES[reply.statusCode]}`
  return [statusLine, ...headerLines, '', reply.body].join('\r\n')
}
