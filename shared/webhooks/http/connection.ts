import { once } from 'node:events'
import { isIP, type LookupFunction, connect as plainConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { Client } from 'undici'
import type { FailureCause } from '../../domain/webhooks/attempt.ts'
import type { Target } from './target.ts'

/** Connections to receivers: made to judged addresses alone, and kept for the next attempt. */

/** More idle connections than these are not kept; an idle one is closed after four seconds. */
const IDLE_MAX = 64

/** How long one of several addresses may keep the next one waiting. */
const ADDRESS_TURN_MS = 1_000

export type Connection = { origin: string; address: string; socket: Socket; client: Client }

/** Why no connection stands. The address is that of one on which TLS came to nothing. */
export type Failed = {
  cause: Extract<FailureCause, 'connect_timeout' | 'refused' | 'tls' | 'address' | 'broken'>
  address: string | null
}

// The oldest first. Keyed by what it is connected to: a host that moves leaves its old one behind.
const idle: Connection[] = []

/** @param signal ends the wait for a connection, and touches none that stands */
export const connectionTo = async (
  target: Target,
  signal: AbortSignal,
): Promise<Connection | Failed> => {
  const at = idle.findLastIndex((connection) => leadsTo(target, connection))
  const [kept] = at < 0 ? [] : idle.splice(at, 1)
  return kept ?? (await opened(target, signal))
}

const leadsTo = ({ url, addresses }: Target, { origin, address, socket }: Connection): boolean =>
  origin === url.origin && addresses.includes(address) && !socket.destroyed

/** Takes back a connection whose last answer was read to its end. */
export const keep = async (connection: Connection): Promise<void> => {
  idle.push(connection)
  if (idle.length > IDLE_MAX) await idle.shift()?.client.destroy()
}

export const closeIdle = async (): Promise<void> => {
  await Promise.all(idle.splice(0).map(({ client }) => client.destroy()))
}

const opened = async (target: Target, signal: AbortSignal): Promise<Connection | Failed> => {
  const { url, addresses } = target
  const socket = socketTo(target)
  // Until undici listens, an error of the socket would be one of the process.
  socket.on('error', () => undefined)
  let address: string | undefined
  try {
    await once(socket, 'connect', { signal })
    address = socket.remoteAddress
    if (!address || !addresses.includes(address)) {
      socket.destroy()
      return { cause: 'address', address: address ?? null }
    }
    if (url.protocol === 'https:') await once(socket, 'secureConnect', { signal })
  } catch (error) {
    socket.destroy()
    const cause = signal.aborted ? 'connect_timeout' : address ? 'tls' : causeOf(error)
    return { cause, address: address ?? null }
  }
  return { origin: url.origin, address, socket, client: clientOn(socket, url.origin) }
}

const socketTo = ({ url, addresses }: Target): Socket => {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const options = {
    host,
    port: Number(url.port || (secure ? 443 : 80)),
    lookup: alwaysTo(addresses),
    autoSelectFamilyAttemptTimeout: ADDRESS_TURN_MS,
    noDelay: true,
  }
  if (!secure) return plainConnect(options)
  return tlsConnect({
    ...options,
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['http/1.1'],
    // Said here, so that no setting of the process can lower them.
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
}

/** In place of the name system: what was judged is what is connected to. */
const alwaysTo = (addresses: string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    if (options.all) done(null, all)
    else done(null, all[0]?.address ?? '', all[0]?.family)
  }
}

const CAUSES: Record<string, Failed['cause']> = {
  ETIMEDOUT: 'connect_timeout',
  ECONNREFUSED: 'refused',
}

const causeOf = (error: unknown): Failed['cause'] =>
  CAUSES[(error as { code?: string }).code ?? ''] ?? 'broken'

/** undici speaks HTTP on this one socket. It never makes another, which nobody would have judged. */
const clientOn = (socket: Socket, origin: string): Client =>
  new Client(origin, {
    allowH2: false,
    pipelining: 1,
    // The limit of the attempt is over them all.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) =>
      queueMicrotask(() =>
        socket.destroyed ? done(new Error('the connection has ended'), null) : done(null, socket),
      ),
  })
