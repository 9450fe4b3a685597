import { isLocalPeer, peerUrl } from '../domain/peer-url.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'

const refuse = (reason: string): Refusal => invalid({ 'connector-url': [reason] })

/**
 * Returns a bank's URL in normal form, without a slash at its end (docs/api.md#bank-connectors). Only
 * operators set it, so any port and private addresses are allowed.
 * @param localPeers hosts that need no TLS
 */
export const bankUrl = (
  text: string,
  { localPeers }: { localPeers: readonly string[] },
): string | Refusal => {
  const url = peerUrl(text)
  if (typeof url === 'string') return refuse(url)
  if (/[?#]/.test(url.href)) return refuse('must not have a query or a fragment')
  if (url.protocol !== 'https:' && !isLocalPeer(url, localPeers)) return refuse('must use https')
  return url.href.replace(/\/+$/, '')
}
