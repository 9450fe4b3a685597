import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** Starts a server on this machine and returns its port. */
export const listen = async (server: Server, port = 0): Promise<number> => {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
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
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return () => `http://127.0.0.1:${port}`
}
