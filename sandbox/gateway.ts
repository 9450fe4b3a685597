import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { replyHeaders } from '../shared/api/reply-headers.ts'
import { decodedParameter } from '../shared/api/resources.ts'
import { type FunctionHost, RequestTooLarge } from './function-host.ts'
import { route } from './gateway-event.ts'
import { answerInvocation, refuseForeignInvocation } from './lambda-api.ts'
import { bareReply, ownReply, sendReply, sendReplyAndClose } from './own-reply.ts'
import { referencePage } from './reference-page.ts'
import { isLocal, targetOf } from './request-target.ts'
import { StartFailure } from './start-failure.ts'

/** The HTTP front: the API's functions, the Lambda Invoke API and the description of the API. */

/** API Gateway refuses what is larger, before any function. */
const BODY_MAX_BYTES = 10 * 1024 * 1024
const HEADERS_MAX_BYTES = 10_240
/** How long a request may take to arrive: API Gateway gives up after 29 s. */
const ARRIVAL_MS = 29_000
const ARRIVAL_CHECK_MS = 500

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
export const openGateway = async (
  port: number,
  { arrivalMs = ARRIVAL_MS }: { arrivalMs?: number } = {},
): Promise<Gateway> => {
  let serving: Serve = async (_request, response) => {
    sendReply(response, ownReply('INTEGRATION_FAILURE'))
  }
  const server = createServer(
    {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: arrivalMs,
      connectionsCheckingInterval: ARRIVAL_CHECK_MS,
      // Answered in the envelope below.
      requireHostHeader: false,
    },
    (request, response) => {
      serving(request, response).catch(() => {
        // The gateway itself failed, or the caller has gone.
        if (response.headersSent) response.destroy()
        else sendReply(response, ownReply('DEFAULT_5XX'))
      })
    },
  )
  refuseUnreadable(server)
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartFailure(`Port ${port} is taken; choose another with --port`)
  }
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (functions, onAnswered) => {
      serving = serveWith(functions, arrivalMs, onAnswered)
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Answers in the envelope where Node would answer by itself, or not at all. */
const refuseUnreadable = (server: ReturnType<typeof createServer>): void => {
  // No HTTP, headers that are too large, or headers that do not end in time.
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT'
    socket.end(bareReply(isLate ? 'INTEGRATION_TIMEOUT' : 'BAD_REQUEST_PARAMETERS'))
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(bareReply('BAD_REQUEST_PARAMETERS'))
  })
  server.on('checkExpectation', (_request, response) => {
    sendReplyAndClose(response, ownReply('BAD_REQUEST_PARAMETERS', 417))
  })
}

const serveWith =
  (functions: FunctionHost, arrivalMs: number, onAnswered: (answered: Answered) => void): Serve =>
  async (request, response) => {
    const startedAt = performance.now()
    const target = targetOf(request)
    const { pathname, search } = target
    const invoked = request.method === 'POST' ? INVOKE.exec(pathname)?.[1] : undefined
    if (!target.host) return sendReplyAndClose(response, ownReply('BAD_REQUEST_PARAMETERS'))
    if (!isLocal(target, request.headers)) {
      if (invoked) return refuseForeignInvocation(response)
      return sendReplyAndClose(response, ownReply('ACCESS_DENIED'))
    }
    const body = await readBody(request, arrivalMs)
    if (body === 'late') return sendReplyAndClose(response, ownReply('INTEGRATION_TIMEOUT'))
    const page = request.method === 'GET' ? referencePage(pathname) : undefined
    if (page) {
      response.writeHead(200, { ...replyHeaders, ...page.headers }).end(page.body)
      return
    }
    if (invoked) return answerInvocation(functions, decodedParameter(invoked), body, response)
    if (body === 'too large') return sendReply(response, ownReply('REQUEST_TOO_LARGE'))
    const { name, event } = route(request, pathname, new URLSearchParams(search), body)
    const reply = await functions.invoke(name, event).then(
      (result) => result as APIGatewayProxyResult,
      (error) =>
        ownReply(error instanceof RequestTooLarge ? 'REQUEST_TOO_LARGE' : 'INTEGRATION_FAILURE'),
    )
    sendReply(response, reply)
    onAnswered({
      method: request.method ?? '',
      path: pathname,
      status: reply.statusCode,
      milliseconds: performance.now() - startedAt,
      body: reply.body,
    })
  }

export type Body = Buffer | 'too large'

const readBody = async (request: IncomingMessage, arrivalMs: number): Promise<Body | 'late'> => {
  const limit = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => limit.resolve('late'), arrivalMs)
  try {
    return await Promise.race([wholeBody(request), limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

const wholeBody = async (request: IncomingMessage): Promise<Body> => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    // Read to the end all the same, so that the caller gets the answer and not a broken pipe.
    if (length <= BODY_MAX_BYTES) parts.push(part)
  }
  return length > BODY_MAX_BYTES ? 'too large' : Buffer.concat(parts)
}
