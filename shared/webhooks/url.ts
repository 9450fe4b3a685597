import { isOnThisMachine, peerUrl } from '../domain/peer-url.ts'
import { Refusal } from '../domain/refusal.ts'

const PORTS = new Set(['', '443', '8443'])

const refuse = (reason: string): Refusal => new Refusal(4400, { details: { url: [reason] } })

/**
 * A URL that events may be sent to, in its normal spelling.
 * @param local whether this machine itself may be named, without TLS: only in the sandbox on it
 */
export const webhookUrl = (text: string, { local }: { local: boolean }): string | Refusal => {
  const url = peerUrl(text)
  if (typeof url === 'string') return refuse(url)
  if (local && isOnThisMachine(url)) return url.href
  if (url.protocol !== 'https:') return refuse('must use https')
  if (!PORTS.has(url.port)) return refuse('must use port 443 or 8443')
  return url.href
}
