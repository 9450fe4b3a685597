import { invalid, type Refusal } from '../domain/refusal.ts'

const LENGTH_MAX = 2_048

const refuse = (reason: string): Refusal => invalid({ 'connector-url': [reason] })

/**
 * Where a bank's endpoint begins, in its normal spelling and without a slash at its end. Unlike a
 * partner's, it may have any port and be in a private network: only operators set it.
 * @param localPeers whether this machine itself may be named, without TLS
 */
export const bankUrl = (
  text: string,
  { localPeers }: { localPeers: boolean },
): string | Refusal => {
  if (text.length > LENGTH_MAX || !URL.canParse(text)) return refuse('is not a URL')
  const url = new URL(text)
  if (url.username || url.password) return refuse('must not carry credentials')
  if (/[?#]/.test(url.href)) return refuse('must not have a query or a fragment')
  const isLocal = localPeers && url.protocol === 'http:' && url.hostname === '127.0.0.1'
  if (url.protocol !== 'https:' && !isLocal) return refuse('must use https')
  return url.href.replace(/\/+$/, '')
}
