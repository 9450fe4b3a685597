import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type ConsoleHandler, isConsolePath } from '../console/server/handler.ts'
import { replyHeaders } from '../shared/api/reply-headers.ts'
import { decodedParameter } from '../shared/api/resources.ts'
import type { Aws } from './aws/aws.ts'
import type { StoredObject } from './aws/journal.ts'
import type { ControlRequest } from './control/routes.ts'
import { type FunctionHost, RequestTooLarge } from './function-host.ts'
import { functionFor, type GatewayRequest, gatewayEvent } from './gateway-event.ts'
import { handleInvocation, refuseForeignInvocation } from './lambda-api.ts'
import { close, listenAt, readBody } from './local-server.ts'
import { pageFor } from './pages/pages.ts'
import { isLocal, targetOf } from './request-target.ts'
import {
  errorGuideAt,
  rawReply,
  sandboxReply,
  sendReply,
  sendReplyAndClose,
} from './sandbox-reply.ts'
import { handleSecretsCall, secretsOperation } from './secrets-api.ts'

/** Serves the API's functions, the Lambda Invoke API, Secrets Manager and the pages over HTTP. */

/** API Gateway's limits. */
const BODY_MAX_BYTES = 10 * 1024 * 1024
const HEADERS_MAX_BYTES = 10_240
const REQUEST_TIMEOUT_MS = 29_000
const TIMEOUT_CHECK_MS = 500

export type GatewayReply = {
  request: GatewayRequest
  status: number
  milliseconds: number
  headers: [name: string, value: string][]
  body: string
}

type HttpHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export type Gateway = Awaited<ReturnType<typeof openGateway>>

type Routes = {
  functions: FunctionHost
  control?: (request: ControlRequest) => Promise<APIGatewayProxyResult>
  reports?: { prefix: string; read: (url: URL) => Promise<StoredObject | undefined> }
  console?: ConsoleHandler
  /** Returns the services, for calls to Secrets Manager. */
  aws?: () => Aws
  onReply: (reply: GatewayReply) => void
}

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/

type GatewayOptions = {
  requestTimeoutMs?: number
  host?: string
  /** The names in Host and Origin that requests may have, besides those of this machine. */
  names?: readonly string[]
}

/** @throws StartFailure when the port is taken */
export const openGateway = async (
  port: number,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS, host = '127.0.0.1', names = [] }: GatewayOptions = {},
) => {
  let handle: HttpHandler = async (_request, response) => {
    sendReply(response, sandboxReply('INTEGRATION_FAILURE'))
  }
  const server = createServer(
    {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // The handler rejects a missing Host header in the envelope.
      requireHostHeader: false,
    },
    (request, response) => {
      handle(request, response).catch(() => {
        // The gateway failed, or the caller closed the connection.
        if (response.headersSent) response.destroy()
        else sendReply(response, sandboxReply('DEFAULT_5XX'))
      })
    },
  )
  rejectUnreadable(server)
  const ownPort = await listenAt(server, port, host)
  const ownHost = `127.0.0.1:${ownPort}`
  // For the gateway's own replies; functions have the same value.
  process.env.ERROR_GUIDE = errorGuideAt(ownHost)
  return {
    address: `http://${ownHost}`,
    /** Starts routing requests to the functions; earlier requests receive 503. */
    serve: (routes: Routes): void => {
      handle = handlerFor(routes, { requestTimeoutMs, names })
    },
    stop: () => close(server),
  }
}

/** Replaces Node's own replies to requests that it cannot read with the envelope. */
const rejectUnreadable = (server: ReturnType<typeof createServer>): void => {
  // Malformed HTTP, headers that are too large or too slow.
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const timedOut = code === 'ERR_HTTP_REQUEST_TIMEOUT'
    socket.end(rawReply(timedOut ? 'INTEGRATION_TIMEOUT' : 'BAD_REQUEST_PARAMETERS'))
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(rawReply('BAD_REQUEST_PARAMETERS'))
  })
  server.on('checkExpectation', (_request, response) => {
    sendReplyAndClose(response, sandboxReply('BAD_REQUEST_PARAMETERS', { statusCode: 417 }))
  })
}

const handlerFor =
  (
    { functions, reports, control, console, aws, onReply }: Routes,
    { requestTimeoutMs, names }: Required<Omit<GatewayOptions, 'host'>>,
  ): HttpHandler =>
  async (request, response) => {
    const startedAt = performance.now()
    const target = targetOf(request)
    const { pathname, search } = target
    const invokedName = request.method === 'POST' ? INVOKE.exec(pathname)?.[1] : undefined
    if (!target.host) return sendReplyAndClose(response, sandboxReply('BAD_REQUEST_PARAMETERS'))
    if (!isLocal(target, request.headers, names)) {
      if (invokedName) return refuseForeignInvocation(response)
      return sendReplyAndClose(response, sandboxReply('ACCESS_DENIED'))
    }
    const body = await readInTime(request, requestTimeoutMs)
    if (body === 'timeout') {
      return sendReplyAndClose(response, sandboxReply('INTEGRATION_TIMEOUT'))
    }
    if (reports && request.method === 'GET' && pathname.startsWith(reports.prefix)) {
      return sendObject(
        response,
        await reports.read(new URL(`http://${target.host}${request.url}`)),
      )
    }
    const { host } = target
    const { accept } = request.headers
    const page = request.method === 'GET' ? await pageFor({ pathname, host, accept }) : undefined
    if (page) {
      response.writeHead(page.status, { ...replyHeaders, ...page.headers }).end(page.body)
      return
    }
    if (console && isConsolePath(pathname)) {
      if (!body) return sendReply(response, sandboxReply('REQUEST_TOO_LARGE'))
      return console({ pathname, host: target.host, body }, request, response)
    }
    if (invokedName) {
      return handleInvocation(functions, decodedParameter(invokedName), body, response)
    }
    const operation = secretsOperation(request.headers)
    if (aws && operation) return handleSecretsCall(aws(), operation, body, response)
    if (!body) return sendReply(response, sandboxReply('REQUEST_TOO_LARGE'))
    const received = gatewayRequest(request, { pathname, search, body })
    const reply =
      control && pathname.startsWith('/sandbox/')
        ? await control(received)
        : await invoke(functions, received)
    sendReply(response, reply)
    onReply({
      request: received,
      status: reply.statusCode,
      milliseconds: performance.now() - startedAt,
      headers: Object.entries(reply.headers ?? {}).map(([name, value]) => [name, String(value)]),
      body: reply.body,
    })
  }

const invoke = async (
  functions: FunctionHost,
  received: GatewayRequest,
): Promise<APIGatewayProxyResult> => {
  const event = gatewayEvent(received)
  try {
    return (await functions.invoke(functionFor(received), event)) as APIGatewayProxyResult
  } catch (error) {
    const type = error instanceof RequestTooLarge ? 'REQUEST_TOO_LARGE' : 'INTEGRATION_FAILURE'
    return sandboxReply(type, { requestId: event.requestContext.extendedRequestId })
  }
}

const gatewayRequest = (
  { method = '', rawHeaders, socket }: IncomingMessage,
  rest: Pick<GatewayRequest, 'pathname' | 'search' | 'body'>,
): GatewayRequest => ({
  method,
  headers: rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  ),
  sourceIp: socket.remoteAddress ?? '',
  ...rest,
})

const sendObject = (response: ServerResponse, object: StoredObject | undefined): void => {
  if (!object) {
    sendReply(response, sandboxReply('ACCESS_DENIED'))
    return
  }
  response
    .writeHead(200, {
      'content-type': object.type,
      'content-disposition': object.disposition,
      'cache-control': 'no-store',
    })
    .end(Buffer.from(object.body, 'latin1'))
}

/** Returns undefined for a body that is too large. */
const readInTime = async (request: IncomingMessage, timeoutMs: number) => {
  const timeout = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => timeout.resolve('timeout'), timeoutMs)
  try {
    return await Promise.race([readBody(request, BODY_MAX_BYTES), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
