import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Watched = {
  endpoint: string
  /** Method, and path with query, of each request that was answered, with the bytes of its body. */
  answered: { method: string; path: string; bytes: number }[]
  stop: () => Promise<void>
}

/** Stands before an endpoint, hands everything on, and tells what was asked and answered. */
export const watch = async (endpoint: string): Promise<Watched> => {
  const answered: Watched['answered'] = []
  const server = createServer((asked, reply) => {
    const { method = '', url: path = '', headers } = asked
    let bytes = 0
    const onwards = request(new URL(path, endpoint), { method, headers }, (answer) => {
      answered.push({ method, path, bytes })
      reply.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(reply)
    })
    onwards.on('error', () => reply.destroy())
    asked.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    asked.pipe(onwards)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
