import { Refusal } from '../../domain/refusal.ts'
import type { Network } from './network.ts'
import { isPublicAddress } from './public-address.ts'
import { literalAddress, refuseUrl, webhookUrl } from './url.ts'

/** Where an attempt goes: the addresses are all that the host has, and each was judged. */
export type Target = { url: URL; addresses: string[] }

/** Why it goes nowhere: for the record of a delivery, and for the operator who sets the URL. */
export type Obstacle = { cause: 'address' | 'dns' | 'connect_timeout'; refusal: Refusal }

/** Who may be spoken to. */
export type Rules = {
  urlOf: (text: string, network: Network) => string | Refusal
  isAllowed: (address: string) => boolean
}

/** The rules of every deployment. A test on one machine has no public address and brings others. */
export const strict: Rules = { urlOf: webhookUrl, isAllowed: isPublicAddress }

/**
 * Judges a URL and every address that its host has at this moment. The host is resolved once, and
 * the connection goes to what was judged: a second answer of the name's owner is never asked for.
 */
export const targetOf = async (
  text: string,
  { network, rules, signal }: { network: Network; rules: Rules; signal: AbortSignal },
): Promise<Target | Obstacle> => {
  const judged = rules.urlOf(text, network)
  if (judged instanceof Refusal) return { cause: 'address', refusal: judged }
  const url = new URL(judged)
  const literal = literalAddress(url)
  // Judged with its URL: this machine itself may be allowed by its address, and by no name.
  if (literal) return { url, addresses: [literal] }
  const addresses = await resolved(url.hostname, network, signal)
  if (signal.aborted) return { cause: 'connect_timeout', refusal: refuseUrl('does not resolve') }
  if (addresses.length === 0) return { cause: 'dns', refusal: refuseUrl('does not resolve') }
  return addresses.every(rules.isAllowed)
    ? { url, addresses }
    : { cause: 'address', refusal: refuseUrl('must resolve to public addresses only') }
}

/** None for whatever goes wrong; a look-up cannot be called off, so it is left behind. */
const resolved = async (
  host: string,
  { resolve }: Network,
  signal: AbortSignal,
): Promise<string[]> => {
  const late = Promise.withResolvers<string[]>()
  const giveUp = () => late.resolve([])
  signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([resolve(host), late.promise])
  } catch {
    return []
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
