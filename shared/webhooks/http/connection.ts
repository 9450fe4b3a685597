import { once } from 'node:events'
import { isIP, type LookupFunction, connect as plainConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { Client } from 'undici'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { FailureCause } from '../../domain/webhooks/attempt.ts'
import type { Target } from './target.ts'

/** The most idle connections kept for later attempts; undici closes each after four seconds. */
const IDLE_MAX = 64

/** The connection timeout of one of several addresses. */
const ADDRESS_TIMEOUT_MS = 1_000

export type Connection = {
  provider: ProviderId
  origin: string
  address: string
  socket: Socket
  client: Client
}

/** A failed connection. `address` is set if TLS failed after the TCP connection. */
type ConnectionFailure = {
  cause: Extract<FailureCause, 'connect_timeout' | 'refused' | 'tls' | 'address' | 'broken'>
  address: string | null
}

// Oldest first.
const idle: Connection[] = []

/** Returns a connection of the same provider only: a receiver can send bytes that answer the next request. */
export const takeIdle = (
  provider: ProviderId,
  { url, addresses }: Target,
): Connection | undefined => {
  const index = idle.findLastIndex(
    (one) =>
      one.provider === provider &&
      one.origin === url.origin &&
      addresses.includes(one.address) &&
      !one.socket.destroyed,
  )
  return index < 0 ? undefined : idle.splice(index, 1)[0]
}

/** Keeps a connection whose last response was read completely. */
export const keep = async (connection: Connection): Promise<void> => {
  idle.push(connection)
  if (idle.length > IDLE_MAX) await idle.shift()?.client.destroy()
}

/** Closes idle connections, so that a process can exit. */
export const closeConnections = async (): Promise<void> => {
  await Promise.all(idle.splice(0).map(({ client }) => client.destroy()))
}

/** @param signal aborts connecting, never an open connection */
export const openConnection = async (
  provider: ProviderId,
  target: Target,
  signal: AbortSignal,
): Promise<Connection | ConnectionFailure> => {
  const { url, addresses } = target
  const socket = socketTo(target)
  // Without a listener, a socket error before undici takes over would end the process.
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
  return { provider, origin: url.origin, address, socket, client: clientOn(socket, url.origin) }
}

const socketTo = ({ url, addresses }: Target): Socket => {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const options = {
    host,
    port: Number(url.port || (secure ? 443 : 80)),
    lookup: fixedLookup(addresses),
    // Node requests all addresses of a lookup only with this option.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    noDelay: true,
  }
  if (!secure) return plainConnect(options)
  return tlsConnect({
    ...options,
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, so that no environment variable can weaken them.
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
}

/** Replaces DNS, so that only checked addresses are connected to. */
const fixedLookup = (addresses: string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, _options, done) => done(null, all)
}

const CAUSES: Record<string, ConnectionFailure['cause']> = {
  ETIMEDOUT: 'connect_timeout',
  ECONNREFUSED: 'refused',
}

const causeOf = (error: unknown) => CAUSES[(error as { code?: string }).code ?? ''] ?? 'broken'

/** Returns an HTTP client that uses this socket only: another connection would be unchecked. */
const clientOn = (socket: Socket, origin: string): Client =>
  new Client(origin, {
    allowH2: false,
    pipelining: 1,
    // The timeout of the attempt covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) =>
      queueMicrotask(() =>
        socket.destroyed ? done(new Error('the connection has ended'), null) : done(null, socket),
      ),
  })
