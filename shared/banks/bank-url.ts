import { isOnThisMachine, peerUrl } from '../domain/peer-url.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'

const refuse = (reason: string): Refusal => invalid({ 'connector-url': [reason] })

/**
 * Where a bank's endpoint begins, in its normal spelling and without a slash at its end. Unlike a
 * provider's, it may have any port and be in a private network: only operators set it.
 * @param localPeers whether this machine itself may be named, without TLS
 */
export const bankUrl = (
  text: string,
  { localPeers }: { localPeers: boolean },
): string | Refusal => {
  const url = peerUrl(text)
  if (typeof url === 'string') return refuse(url)
  if (/[?#]/.test(url.href)) return refuse('must not have a query or a fragment')
  const isLocal = localPeers && isOnThisMachine(url)
  if (url.protocol !== 'https:' && !isLocal) return refuse('must use https')
  return url.href.replace(/\/+$/, '')
}
