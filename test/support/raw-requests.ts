import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export type RawReply = { head: string; body: string }

/** Sends raw bytes and reads until the gateway closes the connection. */
export const sendRaw = async (address: string, request: string): Promise<RawReply> => {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { head, body }
}
