import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server,
  type Socket,
} from 'node:net'

const opened: { server: Server; sockets: Set<Socket> }[] = []

/** Lets a server listen on this machine until the end of the test. */
export const listening = async (server: Server, scheme = 'http'): Promise<string> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
  })
  opened.push({ server, sockets })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
}

/** A receiver that answers requests. */
export const receiver = (answer: RequestListener): Promise<string> =>
  listening(createServer(answer))

/** A receiver that speaks for itself, once it has heard something. */
export const rawReceiver = (answer: (socket: Socket) => void): Promise<string> =>
  listening(createNetServer((socket) => socket.once('data', () => answer(socket))))

const closed = async ({ server, sockets }: (typeof opened)[number]): Promise<void> => {
  if (!server.listening) return
  const end = once(server, 'close')
  server.close()
  for (const socket of sockets) socket.destroy()
  await end
}

/** Ends what the test has opened, connections in the middle of something included. */
export const closeReceivers = async (): Promise<void> => {
  await Promise.all(opened.splice(0).map(closed))
}
