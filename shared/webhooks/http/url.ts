import { isIPv4 } from 'node:net'
import { isOnThisMachine, peerUrl } from '../../domain/peer-url.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Network } from './network.ts'
import { isPublicAddress } from './public-address.ts'

const LENGTH_MAX = 2_048
const PORTS = new Set(['', '443', '8443'])
const FULL_NAME = /[^.]\.[^.]/
const PRIVATE_NAME = /\.(?:localhost|local|internal)$/

/** Of the URL of a webhook. */
export const refuseUrl = (reason: string): Refusal =>
  new Refusal(4400, { details: { url: [reason] } })

/**
 * A URL that events may be sent to, in its normal spelling. It is judged after parsing, which makes
 * `0x7f000001`, `127.1` and the like one address; where a name leads is for `targetOf` to judge.
 */
export const webhookUrl = (
  text: string,
  network: Pick<Network, 'local' | 'ownHosts'>,
): string | Refusal => {
  if (text.length > LENGTH_MAX) return refuseUrl(TOO_LONG)
  const url = peerUrl(text)
  if (typeof url === 'string') return refuseUrl(url)
  // The dot of the root makes another name of the same host, which no certificate carries.
  url.hostname = url.hostname.replace(/\.+$/, '')
  const reason = reasonAgainst(url, network)
  return reason === undefined ? url.href : refuseUrl(reason)
}

const TOO_LONG = `must have at most ${LENGTH_MAX} characters`

const reasonAgainst = (
  url: URL,
  { local, ownHosts }: Pick<Network, 'local' | 'ownHosts'>,
): string | undefined => {
  // Escapes make a URL longer, and what is stored is judged again before each attempt.
  if (url.href.length > LENGTH_MAX) return TOO_LONG
  if (ownHosts.includes(url.host)) return 'must not name a host of this service'
  if (local && isOnThisMachine(url)) return undefined
  if (url.protocol !== 'https:') return 'must use https'
  if (!PORTS.has(url.port)) return 'must use port 443 or 8443'
  const literal = literalAddress(url)
  if (literal) return isPublicAddress(literal) ? undefined : 'must not name a private address'
  if (PRIVATE_NAME.test(url.hostname)) return 'must not name a host of a private network'
  return FULL_NAME.test(url.hostname) ? undefined : 'must give the full name of a host'
}

/** The address that a URL names itself, if it does; such a one is never looked up. */
export const literalAddress = ({ hostname }: URL): string | undefined => {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : undefined
}
