import { randomBytes, randomUUID } from 'node:crypto'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { UNMATCHED } from '../infra/definitions/functions.ts'
import { resourceAt, routedPath } from '../shared/api/resources.ts'

/** A request as the caller sent it, without decoding. */
export type GatewayRequest = {
  method: string
  pathname: string
  /** The query without `?`. */
  search: string
  /** In the order and case of the request. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
  sourceIp: string
}

type Origin = { at: Date; requestId: string; extendedRequestId: string; traceId: string }

/** Returns an id in the form of API Gateway's `extendedRequestId`, such as `JHbGLHXXoAMF1Tw=`. */
export const newRequestId = (): string => `${randomBytes(11).toString('base64url')}=`

const newOrigin = (): Origin => ({
  at: new Date(),
  requestId: randomUUID(),
  extendedRequestId: newRequestId(),
  traceId: `Root=1-${randomBytes(4).toString('hex')}-${randomBytes(12).toString('hex')}`,
})

/** Groups values by name; names are case-sensitive. */
const groupByName = (
  pairs: Iterable<readonly [string, string]>,
): Record<string, string[]> | undefined => {
  const groups = Object.entries(Object.groupBy(pairs, ([name]) => name))
  if (groups.length === 0) return undefined
  return Object.fromEntries(
    groups.map(([name, group = []]) => [name, group.map(([, value]) => value)]),
  )
}

const lastValues = (groups: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']))

/** Headers that API Gateway does not pass on. */
const DROPPED = [
  ...['connection', 'content-length', 'content-md5', 'expect', 'max-forwards', 'server', 'te'],
  ...['proxy-authenticate', 'trailer', 'transfer-encoding', 'upgrade', 'www-authenticate'],
]

const valuesOf = ({ headers }: GatewayRequest, name: string): string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value)

/** Returns the headers of the caller and those that API Gateway adds. */
const headersOf = (request: GatewayRequest, { traceId }: Origin): Record<string, string[]> => {
  const addresses = [...valuesOf(request, 'x-forwarded-for'), request.sourceIp]
  const added = [
    ['X-Amzn-Trace-Id', valuesOf(request, 'x-amzn-trace-id')[0] ?? traceId],
    ['X-Forwarded-For', addresses.join(', ')],
    ['X-Forwarded-Port', '443'],
    ['X-Forwarded-Proto', 'https'],
  ] as const
  const replacedNames = [...DROPPED, ...added.map(([name]) => name.toLowerCase())]
  const kept = request.headers.filter(([name]) => !replacedNames.includes(name.toLowerCase()))
  return groupByName([...kept, ...added]) ?? {}
}

/** Formats as the Common Log Format does: `22/Nov/2026:00:15:56 +0000`. */
const logTime = (at: Date): string => {
  const text = at.toUTCString()
  return `${text.slice(5, 16).replaceAll(' ', '/')}:${text.slice(17, 25)} +0000`
}

const identityOf = (request: GatewayRequest) => ({
  cognitoIdentityPoolId: null,
  accountId: null,
  cognitoIdentityId: null,
  caller: null,
  sourceIp: request.sourceIp,
  principalOrgId: null,
  accessKey: null,
  cognitoAuthenticationType: null,
  cognitoAuthenticationProvider: null,
  userArn: null,
  userAgent: valuesOf(request, 'user-agent')[0] ?? null,
  user: null,
})

const resourceOf = (path: string) => {
  if (path === '/') return { template: '/', parameters: {} }
  return resourceAt(path) ?? { template: '/{proxy+}', parameters: { proxy: path.slice(1) } }
}

/**
 * Returns the event that a regional REST API passes to a function. Only the query is decoded. The path
 * of the context has the slashes of the request, and no stage, as on a custom domain.
 */
export const gatewayEvent = (
  request: GatewayRequest,
  origin: Origin = newOrigin(),
): APIGatewayProxyEvent => {
  const { method, pathname, search, body } = request
  const { template, parameters } = resourceOf(routedPath(pathname))
  const headers = headersOf(request, origin)
  const query = groupByName(new URLSearchParams(search))
  const [host = ''] = valuesOf(request, 'host')
  return {
    resource: template,
    path: pathname.replace(/^\/+/, '/'),
    httpMethod: method,
    headers: lastValues(headers),
    multiValueHeaders: headers,
    queryStringParameters: query ? lastValues(query) : null,
    multiValueQueryStringParameters: query ?? null,
    pathParameters: Object.keys(parameters).length > 0 ? parameters : null,
    stageVariables: null,
    requestContext: {
      resourceId: 'sandbox',
      resourcePath: template,
      httpMethod: method,
      extendedRequestId: origin.extendedRequestId,
      requestTime: logTime(origin.at),
      path: pathname,
      accountId: '000000000000',
      protocol: 'HTTP/1.1',
      stage: 'sandbox',
      domainPrefix: host.replace(/[.:].*$/, ''),
      requestTimeEpoch: origin.at.getTime(),
      // A caller can set this id, but not the extended one.
      requestId: valuesOf(request, 'x-amzn-requestid')[0] ?? origin.requestId,
      identity: identityOf(request),
      domainName: host,
      deploymentId: 'sandbox',
      apiId: 'sandbox',
    } as unknown as APIGatewayProxyEvent['requestContext'],
    // The API treats every body as binary.
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
  }
}

/** Returns the name of the function for a request. */
export const functionFor = ({ method, pathname }: GatewayRequest): string =>
  resourceAt(pathname)?.methods[method] ?? UNMATCHED
