import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LocalServer = { endpoint: string; stop: () => Promise<void> }

/** Starts an HTTP server on a free port of 127.0.0.1. */
export const startLocalServer = async (listener: RequestListener): Promise<LocalServer> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
