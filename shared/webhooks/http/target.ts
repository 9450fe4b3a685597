import { isLocalPeer } from '../../domain/peer-url.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Network } from './network.ts'
import { isPublicAddress } from './public-address.ts'
import { literalAddress, refuseUrl, webhookUrl } from './url.ts'

/** A receiver: its URL and all addresses of its host, each checked. */
export type Target = { url: URL; addresses: string[] }

/** The cause is for the delivery record, the refusal for the operator who sets the URL. */
export type RejectedUrl = { cause: 'address' | 'dns' | 'connect_timeout'; refusal: Refusal }

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
