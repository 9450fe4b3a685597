import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import { listen } from '../../../sandbox/local-server.ts'
import { closeConnections } from '../../../shared/webhooks/http/connection.ts'
import type { Network } from '../../../shared/webhooks/http/network.ts'
import type { PostRequest } from '../../../shared/webhooks/http/sender.ts'
import { providerId } from '../../support/examples.ts'

const opened: { server: Server; port: number; sockets: Set<Socket> }[] = []

/** Starts a server on this machine until the end of the test, and returns its URL. */
export const listening = async (server: Server, scheme = 'http'): Promise<string> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
  })
  const port = await listen(server)
  opened.push({ server, port, sockets })
  return `${scheme}://127.0.0.1:${port}/hooks`
}

/** Lists the connections to the server of a URL. */
export const connectionsTo = (url: string): Socket[] => {
  const server = opened.find(({ port }) => port === Number(new URL(url).port))
  return [...(server?.sockets ?? [])]
}

/** Waits until a connection is closed. */
export const ended = async (socket: Socket | undefined): Promise<void> => {
  if (!socket || socket.closed) return
  const end = Promise.withResolvers<void>()
  socket.once('close', () => end.resolve())
  await end.promise
}

/** Starts an HTTP receiver. */
export const receiver = (answer: RequestListener): Promise<string> =>
  listening(createServer(answer))

/** Starts a TCP receiver that responds to its first bytes. */
export const rawReceiver = (answer: (socket: Socket) => void): Promise<string> =>
  listening(createNetServer((socket) => socket.once('data', () => answer(socket))))

/** Reads one of the test certificates. */
export const pem = (name: string): string =>
  readFileSync(`test/webhooks/http/certificates/${name}.pem`, 'utf8')

/** Starts an HTTPS receiver with the certificate of that name. */
export const tlsReceiver = (
  name: string,
  answer: RequestListener,
  settings: ServerOptions = {},
): Promise<string> =>
  listening(
    createTlsServer({ cert: pem(name), key: pem(`${name}.key`), ...settings }, answer),
    'https',
  )

const closed = async ({ server, sockets }: (typeof opened)[number]): Promise<void> => {
  if (!server.listening) return
  const end = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await end
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(closed))
  await closeConnections()
})

export const requestTo = (url: string, changes: Partial<PostRequest> = {}): PostRequest => ({
  provider: providerId('demo'),
  url,
  headers: {},
  body: '{}',
  timeoutSeconds: 10,
  connectionTimeoutSeconds: 5,
  ...changes,
})

/** Returns a network without any known host. */
export const networkOf = (changes: Partial<Network> = {}): Network => ({
  resolve: async () => [],
  localPeers: [],
  ownHosts: [],
  ...changes,
})

/** Returns a resolver that gives these answers in order and records the looked-up hosts. */
export const fakeResolver = (...answers: string[][]) => {
  const lookups: string[] = []
  const resolve = async (host: string): Promise<string[]> => {
    lookups.push(host)
    return answers[lookups.length - 1] ?? []
  }
  return { lookups, resolve }
}
