import { EventEmitter } from 'node:events'
import { type LookupFunction, isIP as nodeIsIP } from 'node:net'
import { current } from '../engine/current.ts'

export const isIP = nodeIsIP

/** Replaces `node:net`: connections that open or fail, without data. */

type Options = { host: string; lookup: LookupFunction }

export class Socket extends EventEmitter {
  remoteAddress: string | undefined
  destroyed = false
  ended: () => unknown = () => undefined

  destroy(): this {
    this.destroyed = true
    this.ended()
    return this
  }
}

const addressOf = ({ host, lookup }: Options): string => {
  let address = ''
  lookup(host, { all: true }, (_error, found) => {
    address = (Array.isArray(found) ? found[0]?.address : found) ?? ''
  })
  return address
}

export const open = (options: Options, isSecure: boolean): Socket => {
  const socket = new Socket()
  const address = addressOf(options)
  socket.ended = current().network.connect(options.host, {
    connected: () => {
      socket.remoteAddress = address
      socket.emit('connect')
    },
    secured: () => {
      if (isSecure) socket.emit('secureConnect')
    },
    failed: (error) => socket.emit('error', error),
  })
  return socket
}

export const connect = (options: Options): Socket => open(options, false)
