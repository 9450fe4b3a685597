import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { UNMATCHED } from '../infra/definitions/functions.ts'
import { resourceAt } from '../shared/api/resources.ts'

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
  return {
    name: name ?? UNMATCHED,
    event: eventOf(request, {
      pathname,
      resource: at?.template ?? '/{proxy+}',
      // API Gateway ignores a slash at the end, and does not decode.
      parameters: at?.parameters ?? { proxy: pathname.replace(/^\/|\/$/g, '') },
      query,
      body,
    }),
  }
}

type Parts = {
  pathname: string
  resource: string
  parameters: Record<string, string>
  query: URLSearchParams
  body: Buffer
}

/** Every value under its name, which keeps its case. */
const grouped = (pairs: Iterable<readonly [string, string]>): Record<string, string[]> => {
  const values = Object.groupBy(pairs, ([name]) => name)
  return Object.fromEntries(
    Object.entries(values).map(([name, same = []]) => [name, same.map(([, value]) => value)]),
  )
}

const headersOf = ({ rawHeaders }: IncomingMessage): Record<string, string[]> =>
  grouped(
    rawHeaders.flatMap((name, n) =>
      n % 2 === 0 ? [[name, rawHeaders[n + 1] ?? ''] as const] : [],
    ),
  )

const last = (all: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.at(-1) ?? '']))

/** The event as recordings of API Gateway (REST) have it: only the query is decoded. */
const eventOf = (request: IncomingMessage, parts: Parts): APIGatewayProxyEvent => {
  const { pathname, resource, parameters, query, body } = parts
  const headers = headersOf(request)
  const queries = grouped(query)
  return {
    resource,
    path: pathname,
    httpMethod: request.method ?? '',
    headers: last(headers),
    multiValueHeaders: headers,
    queryStringParameters: query.size > 0 ? last(queries) : null,
    multiValueQueryStringParameters: query.size > 0 ? queries : null,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    // The API takes every body as binary, so that its bytes arrive as they were sent.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
    requestContext: {
      resourcePath: resource,
      path: pathname,
      httpMethod: request.method ?? '',
      requestId: randomUUID(),
      requestTimeEpoch: Date.now(),
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
