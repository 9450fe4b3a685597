import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { UNMATCHED } from '../infra/definitions/functions.ts'
import { resourceAt } from '../shared/api/resources.ts'

/** Returns the function for a request, and the event that API Gateway would pass to it. */
export const route = (
  request: IncomingMessage,
  pathname: string,
  query: URLSearchParams,
  body: Buffer,
): { name: string; event: APIGatewayProxyEvent } => {
  const resource = resourceAt(pathname)
  return {
    name: resource?.methods[request.method ?? ''] ?? UNMATCHED,
    event: eventOf(request, {
      pathname,
      resource: resource?.template ?? '/{proxy+}',
      // API Gateway ignores a trailing slash and does not decode.
      parameters: resource?.parameters ?? { proxy: pathname.replace(/^\/|\/$/g, '') },
      query,
      body,
    }),
  }
}

type EventParts = {
  pathname: string
  resource: string
  parameters: Record<string, string>
  query: URLSearchParams
  body: Buffer
}

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

/** Builds the event of a REST API, in which only the query is decoded. */
const eventOf = (request: IncomingMessage, parts: EventParts): APIGatewayProxyEvent => {
  const { pathname, resource, parameters, query, body } = parts
  const headers = headersOf(request)
  const queries = groupByName(query)
  return {
    resource,
    path: pathname,
    httpMethod: request.method ?? '',
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
