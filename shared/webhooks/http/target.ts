import { isIPv4 } from 'node:net'
import { isLocalPeer, peerUrl } from '../../domain/peer-url.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Network } from './network.ts'
import { isPublicAddress } from './public-address.ts'

const LENGTH_MAX = 2_048
const PORTS = new Set(['', '443', '8443'])
const FULL_NAME = /[^.]\.[^.]/
const PRIVATE_NAME = /\.(?:localhost|local|internal)$/

const refuseUrl = (reason: string) => new Refusal(4400, { details: { url: [reason] } })

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
const literalAddress = ({ hostname }: URL): string | undefined => {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return isIPv4(hostname) ? hostname : undefined
}

/** A receiver: its URL and all addresses of its host, each checked. */
export type Target = { url: URL; addresses: string[] }

/** The cause is for the delivery record, the refusal for the operator who sets the URL. */
type RejectedUrl = { cause: 'address' | 'dns' | 'connect_timeout'; refusal: Refusal }

/** Decides which URLs and addresses are allowed. */
export type Rules = {
  urlOf: (text: string, network: Network) => string | Refusal
  isAllowed: (address: string) => boolean
}

/** The rules of every deployment. Tests pass their own, because they have no public address. */
export const strict: Rules = { urlOf: webhookUrl, isAllowed: isPublicAddress }

/**
 * Checks a URL and all current addresses of its host (docs/api.md#webhook-urls). Resolves the host once;
 * the connection uses the checked addresses, so a second DNS answer cannot redirect it.
 */
export const targetOf = async (
  text: string,
  { network, rules, signal }: { network: Network; rules: Rules; signal: AbortSignal },
): Promise<Target | RejectedUrl> => {
  const checked = rules.urlOf(text, network)
  if (checked instanceof Refusal) return { cause: 'address', refusal: checked }
  const url = new URL(checked)
  const literal = literalAddress(url)
  // `urlOf` has checked the address.
  if (literal) return { url, addresses: [literal] }
  const addresses = await resolveUntil(url.hostname, network, signal)
  if (signal.aborted) return { cause: 'connect_timeout', refusal: refuseUrl('does not resolve') }
  if (addresses.length === 0) return { cause: 'dns', refusal: refuseUrl('does not resolve') }
  return isLocalPeer(url, network.localPeers) || addresses.every(rules.isAllowed)
    ? { url, addresses }
    : { cause: 'address', refusal: refuseUrl('must resolve to public addresses only') }
}

/**
 * Checks the URL of a new webhook. Functions have no IPv6 network, so they would never reach a receiver
 * with IPv6 addresses only.
 */
export const newWebhookUrl = async (
  text: string,
  network: Network,
  signal: AbortSignal,
): Promise<string | Refusal> => {
  const target = await targetOf(text, { network, rules: strict, signal })
  if ('refusal' in target) return target.refusal
  const { url, addresses } = target
  const isReachable = isLocalPeer(url, network.localPeers) || addresses.some(isIPv4)
  return isReachable ? url.href : refuseUrl('must have an IPv4 address')
}

/** Returns no addresses on failure or abort. A DNS lookup cannot be cancelled, only ignored. */
const resolveUntil = async (host: string, { resolve }: Network, signal: AbortSignal) => {
  const aborted = Promise.withResolvers<string[]>()
  const abort = () => aborted.resolve([])
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([resolve(host), aborted.promise])
  } catch {
    return []
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
