import { Refusal } from '../domain/refusal.ts'

const LENGTH_MAX = 2_048
const PORTS = new Set(['', '443', '8443'])

const refuse = (reason: string): Refusal => new Refusal(4400, { details: { url: [reason] } })

/**
 * A URL that events may be sent to, in its normal spelling.
 * @param local whether this machine itself may be named, without TLS: only in the sandbox on it
 */
export const webhookUrl = (text: string, { local }: { local: boolean }): string | Refusal => {
  if (text.length > LENGTH_MAX || !URL.canParse(text)) return refuse('is not a URL')
  const url = new URL(text)
  if (url.username || url.password) return refuse('must not carry credentials')
  if (local && url.hostname === '127.0.0.1' && url.protocol === 'http:') return url.href
  if (url.protocol !== 'https:') return refuse('must use https')
  if (!PORTS.has(url.port)) return refuse('must use port 443 or 8443')
  return url.href
}
