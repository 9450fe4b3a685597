import { randomUUID } from 'node:crypto'
import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import {
  type GatewayResponse,
  gatewayBody,
  gatewayHeaders,
  gatewayResponses,
} from '../infra/definitions/gateway-responses.ts'

/** The gateway's own replies, which no function makes. */

/** The general limit of a sandbox, as answer-unmatched has it: nothing is counted here. */
const LIMIT_PER_MINUTE = 30

const untouchedRate = (now: number): Record<string, string> => ({
  'X-RateLimit-Limit': String(LIMIT_PER_MINUTE),
  'X-RateLimit-Remaining': String(LIMIT_PER_MINUTE),
  'X-RateLimit-Reset': String((Math.floor(now / 60_000) + 1) * 60),
})

export const ownReply = (
  type: GatewayResponse,
  statusCode: number = gatewayResponses[type].status,
): APIGatewayProxyResult => {
  const now = new Date()
  const requestId = randomUUID()
  const headers = {
    ...gatewayHeaders(gatewayResponses[type]),
    ...untouchedRate(now.getTime()),
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-ID': requestId,
  }
  const body = gatewayBody(gatewayResponses[type], { timestamp: now.toISOString(), requestId })
  return { statusCode, headers, body }
}

const headersOf = ({ headers, body }: APIGatewayProxyResult): OutgoingHttpHeaders => ({
  ...(headers as OutgoingHttpHeaders),
  'Content-Length': Buffer.byteLength(body),
})

export const sendReply = (response: ServerResponse, reply: APIGatewayProxyResult): void => {
  // The function leaves out the body of HEAD, so its length is not known.
  const headers = response.req.method === 'HEAD' ? reply.headers : headersOf(reply)
  response.writeHead(reply.statusCode, headers as OutgoingHttpHeaders).end(reply.body)
}

/** Answers a request whose body does not arrive, and closes its connection. */
export const sendReplyAndClose = (response: ServerResponse, reply: APIGatewayProxyResult): void => {
  response.setHeader('Connection', 'close')
  response.once('finish', () => response.req.destroy())
  sendReply(response, reply)
}

/** A reply in bytes, for a connection on which no request could be read. */
export const bareReply = (type: GatewayResponse): string => {
  const reply = ownReply(type)
  const all = { ...headersOf(reply), Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const first = `HTTP/1.1 ${reply.statusCode} ${STATUS_CODES[reply.statusCode]}`
  return [first, ...lines, '', reply.body].join('\r\n')
}
