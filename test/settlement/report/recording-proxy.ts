import { createServer, request } from 'node:http'
import { listen } from '../../support/servers.ts'

export type RecordingProxy = {
  endpoint: string
  /** The answered requests: method, path with query, and the bytes of the body. */
  requests: { method: string; path: string; bytes: number }[]
  stop: () => Promise<void>
}

/** Starts a proxy of an HTTP endpoint that records the requests. */
export const startRecordingProxy = async (endpoint: string): Promise<RecordingProxy> => {
  const requests: RecordingProxy['requests'] = []
  const server = createServer((incoming, reply) => {
    const { method = '', url: path = '', headers } = incoming
    let bytes = 0
    const forwarded = request(new URL(path, endpoint), { method, headers }, (response) => {
      requests.push({ method, path, bytes })
      reply.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(reply)
    })
    forwarded.on('error', () => reply.destroy())
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    incoming.pipe(forwarded)
  })
  return {
    endpoint: `http://127.0.0.1:${await listen(server)}`,
    requests,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
