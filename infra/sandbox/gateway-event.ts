import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { resourceAt } from '../../shared/api/resources.ts'
import { UNMATCHED } from '../functions.ts'

/** A request as the function that answers it, and the event that API Gateway would hand over. */
export type Routed = { name: string; event: APIGatewayProxyEvent }

export const route = (
  request: IncomingMessage,
  pathname: string,
  query: URLSearchParams,
  body: Buffer,
): Routed => {
  const at = resourceAt(pathname)
  const name = at?.methods[request.method ?? '']
  const parameters = Object.entries(at?.parameters ?? { proxy: pathname.slice(1) })
  return {
    name: name ?? UNMATCHED,
    event: eventOf(request, {
      pathname,
      resource: at?.template ?? '/{proxy+}',
      parameters: Object.fromEntries(parameters.map(([key, text]) => [key, decoded(text)])),
      query,
      body,
    }),
  }
}

/** A segment that cannot be decoded stays as it was sent: no parameter has such a shape. */
export const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

type Parts = {
  pathname: string
  resource: string
  parameters: Record<string, string>
  query: URLSearchParams
  body: Buffer
}

const eventOf = (request: IncomingMessage, parts: Parts): APIGatewayProxyEvent => {
  const { pathname, resource, parameters, query, body } = parts
  const several = Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values = []]) => [name, values]),
  )
  const queries = Object.fromEntries([...query.keys()].map((key) => [key, query.getAll(key)]))
  const last = (all: Record<string, string[]>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([key, values]) => [key, values.at(-1) ?? '']))
  const now = new Date()
  return {
    resource,
    path: pathname,
    httpMethod: request.method ?? '',
    headers: last(several),
    multiValueHeaders: several,
    queryStringParameters: query.size > 0 ? last(queries) : null,
    multiValueQueryStringParameters: query.size > 0 ? queries : null,
    pathParameters: parameters,
    stageVariables: null,
    // The API takes every body as binary, so that its bytes arrive as they were sent.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
    requestContext: {
      resourcePath: resource,
      path: pathname,
      httpMethod: request.method ?? '',
      requestId: randomUUID(),
      requestTimeEpoch: now.getTime(),
      stage: 'sandbox',
      protocol: 'HTTP/1.1',
      accountId: '000000000000',
      apiId: 'sandbox',
      resourceId: 'sandbox',
      authorizer: null,
      identity: {
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? null,
      } as APIGatewayProxyEvent['requestContext']['identity'],
    },
  }
}
