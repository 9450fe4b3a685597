import { once } from 'node:events'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { StartFailure } from './start-failure.ts'

/** Starts a server, by default at a free port that only this machine reaches, and returns its port. */
export const listen = async (server: Server, port = 0, host = '127.0.0.1'): Promise<number> => {
  await once(server.listen(port, host), 'listening')
  return (server.address() as AddressInfo).port
}

/** Starts the server of a command. @throws StartFailure in one line, such as when the port is taken */
export const listenAt = (server: Server, port: number, host = '127.0.0.1'): Promise<number> =>
  listen(server, port, host).catch(({ code, message }) => {
    throw new StartFailure(
      code === 'EADDRINUSE'
        ? `Port ${port} is taken; choose another with --port`
        : `The command cannot listen on ${host}: ${message}`,
    )
  })

/** Closes a server and its connections. */
export const close = async (server: HttpServer): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Returns a free port; another process may take it first, so the caller retries. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Reads a body to its end, also above the limit, so that the caller receives the reply.
 * @returns undefined for a body of more bytes
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maxBytes) chunks.push(chunk)
  }
  return length <= maxBytes ? Buffer.concat(chunks) : undefined
}
