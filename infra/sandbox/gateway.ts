import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { resourceAt } from '../../shared/api/operations.ts'
import { UNMATCHED } from '../functions.ts'
import { gatewayBody, gatewayResponses } from '../gateway-responses.ts'
import type { FunctionHost } from './function-host.ts'
import { referencePage } from './reference-page.ts'
import { StartFailure } from './start-failure.ts'

/** The HTTP front: requests to proxy events as API Gateway hands them over, and replies back. */

/** API Gateway refuses what is larger, before any function. */
const BODY_MAX_BYTES = 10 * 1024 * 1024

export type Answered = {
  method: string
  path: string
  status: number
  milliseconds: number
  body: string
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export type Gateway = {
  address: string
  /** From now on requests are answered by the functions. */
  serve: (functions: FunctionHost, onAnswered: (answered: Answered) => void) => void
  stop: () => Promise<void>
}

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/

/** @throws StartFailure when the port is taken */
export const openGateway = async (port: number): Promise<Gateway> => {
  let serving: Serve = async (_request, response) => {
    response.writeHead(503, { 'retry-after': '5' }).end()
  }
  const server = createServer((request, response) => {
    serving(request, response).catch(() => {
      // What the gateway itself could not do, or nobody listens any more.
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
  })
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartFailure(`Port ${port} is taken; choose another with --port`)
  }
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (functions, onAnswered) => {
      serving = serveWith(functions, onAnswered)
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const serveWith =
  (functions: FunctionHost, onAnswered: (answered: Answered) => void): Serve =>
  async (request, response) => {
    const startedAt = performance.now()
    // As sent: neither dots nor encodings are resolved before a function sees the path.
    const [pathname = '/', search = ''] = (request.url ?? '/').split(/\?(.*)/s)
    const body = await readBody(request)
    if (!body) return tooLarge(response)
    const page = request.method === 'GET' ? referencePage(pathname) : undefined
    if (page) {
      response.writeHead(200, page.headers).end(page.body)
      return
    }
    const invoked = INVOKE.exec(pathname)?.[1]
    if (invoked && request.method === 'POST') {
      return invoke(functions, decoded(invoked), body, response)
    }
    const { name, event } = route(request, pathname, new URLSearchParams(search), body)
    const reply = (await functions.invoke(name, event)) as APIGatewayProxyResult
    response.writeHead(reply.statusCode, reply.headers as Record<string, string>).end(reply.body)
    onAnswered({
      method: request.method ?? '',
      path: pathname,
      status: reply.statusCode,
      milliseconds: performance.now() - startedAt,
      body: reply.body,
    })
  }

const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    // Read to the end all the same, so that the caller gets the answer and not a broken pipe.
    if (length <= BODY_MAX_BYTES) parts.push(part)
  }
  return length > BODY_MAX_BYTES ? undefined : Buffer.concat(parts)
}

const tooLarge = (response: ServerResponse): void => {
  const requestId = randomUUID()
  const frame = { timestamp: new Date().toISOString(), requestId }
  response
    .writeHead(gatewayResponses.REQUEST_TOO_LARGE.status, {
      'content-type': 'application/json',
      'x-request-id': requestId,
    })
    .end(gatewayBody('REQUEST_TOO_LARGE', frame))
}

/** The Lambda Invoke API: the function's reply, or its error with the header that marks it. */
const invoke = async (
  functions: FunctionHost,
  name: string,
  body: Buffer,
  response: ServerResponse,
): Promise<void> => {
  const answer = (status: number, payload: unknown, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(payload ?? null))
  if (!functions.has(name)) {
    answer(
      404,
      { Type: 'User', Message: `Function not found: ${name}` },
      { 'x-amzn-errortype': 'ResourceNotFoundException' },
    )
    return
  }
  const event = parsed(body)
  if (event === undefined) {
    answer(
      400,
      { Type: 'User', Message: 'Could not parse request body into json' },
      { 'x-amzn-errortype': 'InvalidRequestContentException' },
    )
    return
  }
  try {
    answer(200, await functions.invoke(name, event))
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    answer(200, { errorType, errorMessage }, { 'x-amz-function-error': 'Unhandled' })
  }
}

const parsed = (body: Buffer): unknown => {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

type Routed = { name: string; event: APIGatewayProxyEvent }

const route = (
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

const decoded = (segment: string): string => {
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
