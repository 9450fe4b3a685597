import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

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
