import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { close, listen } from '../../sandbox/local-server.ts'

/** A request that a server of a test received; its body is text. */
export type ReceivedRequest = Awaited<ReturnType<typeof received>>

export const received = async (request: IncomingMessage) => {
  const { method = '', url: path = '', headers } = request
  return { method, path, headers, body: await text(request) }
}

/** Runs work with the port of a server, and closes the server. */
export const whileListening = async <T>(
  server: Server,
  work: (port: number) => Promise<T>,
): Promise<T> => {
  const port = await listen(server)
  try {
    return await work(port)
  } finally {
    server.close()
  }
}

/** Lets a server listen during the tests of a file, and returns a function for its address. */
export const useServer = (server: HttpServer): (() => string) => {
  let port = 0
  beforeAll(async () => {
    port = await listen(server)
  })
  afterAll(() => close(server))
  return () => `http://127.0.0.1:${port}`
}
