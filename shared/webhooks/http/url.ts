import { isIPv4 } from 'node:net'
import { isLocalPeer, peerUrl } from '../../domain/peer-url.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Network } from './network.ts'
import { isPublicAddress } from './public-address.ts'

const LENGTH_MAX = 2_048
const PORTS = new Set(['', '443', '8443'])
const FULL_NAME = /[^.]\.[^.]/
const PRIVATE_NAME = /\.(?:localhost|local|internal)$/

export const refuseUrl = (reason: string) => new Refusal(4400, { details: { url: [reason] } })

/**
 * Normalizes and checks the URL of a webhook (docs/api.md#webhook-urls). Parsing turns `0x7f000001` and
 * `127.1` into one address. `targetOf` checks the addresses of a host name.
 */
export const webhookUrl = (
  text: string,
  network: Pick<Network, 'localPeers' | 'ownHosts'>,
): string | Refusal => {
  if (text.length > LENGTH_MAX) return refuseUrl(TOO_LONG)
  const url = peerUrl(text)
  if (typeof url === 'string') return refuseUrl(url)
  // A trailing dot names the same host, but certificates do not contain it.
  url.hostname = url.hostname.replace(/\.+$/, '')
  const reason = refusalReason(url, network)
  return reason === undefined ? url.href : refuseUrl(reason)
}

const TOO_LONG = `must have at most ${LENGTH_MAX} characters`

const refusalReason = (
  url: URL,
  { localPeers, ownHosts }: Pick<Network, 'localPeers' | 'ownHosts'>,
): string | undefined => {
  // Escapes make a URL longer, and the stored URL is checked again before each attempt.
  if (url.href.length > LENGTH_MAX) return TOO_LONG
  if (ownHosts.includes(url.host)) return 'must not name a host of this service'
  if (isLocalPeer(url, localPeers)) return undefined
  if (url.protocol !== 'https:') return 'must use https'
  if (!PORTS.has(url.port)) return 'must use port 443 or 8443'
  const literal = literalAddress(url)
  if (literal) return isPublicAddress(literal) ? undefined : 'must not name a private address'
  if (PRIVATE_NAME.test(url.hostname)) return 'must not name a host of a private network'
  return FULL_NAME.test(url.hostname) ? undefined : 'must give the full name of a host'
}

/** Returns the IP address in a URL, if it has one instead of a host name. */
export const literalAddress = ({ hostname }: URL): string | undefined => {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : undefined
}
