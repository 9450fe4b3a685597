import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An arrived event; `at` is a time of performance.now(). */
export type Arrival = { headers: IncomingMessage['headers']; body: string; at: number }

/** A dead receiver accepts the connection and never answers. */
export const openReceiver = async (isDead: boolean, onArrival: (arrival: Arrival) => void) => {
  const server = createServer(async (request, response) => {
    const { headers } = request
    const body = await text(request)
    onArrival({ headers, body, at: performance.now() })
    if (!isDead) response.writeHead(200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
