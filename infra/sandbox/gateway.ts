import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { decodedParameter } from '../../shared/api/resources.ts'
import {
  type GatewayResponse,
  gatewayBody,
  gatewayHeaders,
  gatewayResponses,
} from '../gateway-responses.ts'
import { type FunctionHost, RequestTooLarge } from './function-host.ts'
import { route } from './gateway-event.ts'
import { answerInvocation } from './lambda-api.ts'
import { referencePage } from './reference-page.ts'
import { StartFailure } from './start-failure.ts'

/** The HTTP front: the API's functions, the Lambda Invoke API and the description of the API. */

/** API Gateway refuses what is larger, before any function. */
const BODY_MAX_BYTES = 10 * 1024 * 1024
const HEADERS_MAX_BYTES = 10_240

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
  const server = createServer({ maxHeaderSize: HEADERS_MAX_BYTES }, (request, response) => {
    serving(request, response).catch(() => {
      // What the gateway itself could not do, or nobody listens any more.
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
  })
  // What is no HTTP, or has more headers than API Gateway takes, never becomes a request.
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(bareReply('BAD_REQUEST_PARAMETERS'))
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
    const page = request.method === 'GET' ? referencePage(pathname) : undefined
    if (page) {
      response.writeHead(200, page.headers).end(page.body)
      return
    }
    const invoked = INVOKE.exec(pathname)?.[1]
    if (invoked && request.method === 'POST') {
      return answerInvocation(functions, decodedParameter(invoked), body, response)
    }
    if (!body) return answer(response, ownReply('REQUEST_TOO_LARGE'))
    const { name, event } = route(request, pathname, new URLSearchParams(search), body)
    const reply = await functions.invoke(name, event).then(
      (result) => result as APIGatewayProxyResult,
      (error) =>
        ownReply(error instanceof RequestTooLarge ? 'REQUEST_TOO_LARGE' : 'INTEGRATION_FAILURE'),
    )
    answer(response, reply)
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

/** The gateway's own reply, without a function. */
const ownReply = (type: GatewayResponse): APIGatewayProxyResult => {
  const requestId = randomUUID()
  const body = gatewayBody(type, { timestamp: new Date().toISOString(), requestId })
  const headers = {
    ...gatewayHeaders(type),
    'Content-Type': 'application/json',
    'X-Request-ID': requestId,
  }
  return { statusCode: gatewayResponses[type].status, headers, body }
}

const headersOf = ({ headers, body }: APIGatewayProxyResult): OutgoingHttpHeaders => ({
  ...(headers as OutgoingHttpHeaders),
  'Content-Length': Buffer.byteLength(body),
})

const answer = (response: ServerResponse, reply: APIGatewayProxyResult): void => {
  // The function leaves out the body of HEAD, so its length is not known.
  const headers = response.req.method === 'HEAD' ? reply.headers : headersOf(reply)
  response.writeHead(reply.statusCode, headers as OutgoingHttpHeaders).end(reply.body)
}

/** The same in bytes, where there is no response to write it with. */
const bareReply = (type: GatewayResponse): string => {
  const reply = ownReply(type)
  const all = { ...headersOf(reply), Connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const first = `HTTP/1.1 ${reply.statusCode} ${STATUS_CODES[reply.statusCode]}`
  return [first, ...lines, '', reply.body].join('\r\n')
}
