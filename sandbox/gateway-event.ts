import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { UNMATCHED } from '../infra/definitions/functions.ts'
import { resourceAt } from '../shared/api/resources.ts'
import { newRequestId } from './own-reply.ts'

/** Groups values by name; names are case-sensitive. */
const groupByName = (pairs: Iterable<readonly [string, string]>): Record<string, string[]> => {
  const groups = Object.groupBy(pairs, ([name]) => name)
  return Object.fromEntries(
    Object.entries(groups).map(([name, group = []]) => [name, group.map(([, value]) => value)]),
  )
}

const headersOf = ({ rawHeaders }: IncomingMessage): Record<string, string[]> =>
  groupByName(
    rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
    ),
  )

const lastValues = (groups: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']))

/**
 * Returns the function for a request, and the event that a REST API would pass to it, in which only the
 * query is decoded.
 */
export const route = (
  request: IncomingMessage,
  pathname: string,
  query: URLSearchParams,
  body: Buffer,
): { name: string; event: APIGatewayProxyEvent } => {
  const found = resourceAt(pathname)
  const method = request.method ?? ''
  const resource = found?.template ?? '/{proxy+}'
  // API Gateway ignores a trailing slash and does not decode.
  const parameters = found?.parameters ?? { proxy: pathname.replace(/^\/|\/$/g, '') }
  const headers = headersOf(request)
  const queries = groupByName(query)
  const event = {
    resource,
    path: pathname,
    httpMethod: method,
    headers: lastValues(headers),
    multiValueHeaders: headers,
    queryStringParameters: query.size > 0 ? lastValues(queries) : null,
    multiValueQueryStringParameters: query.size > 0 ? queries : null,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    // The API treats every body as binary.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
    requestContext: {
      resourcePath: resource,
      path: pathname,
      httpMethod: method,
      requestId: randomUUID(),
      extendedRequestId: newRequestId(),
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
  return { name: found?.methods[method] ?? UNMATCHED, event }
}
