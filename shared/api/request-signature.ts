import { timingSafeEqual } from 'node:crypto'
import { Refusal } from '../domain/refusal.ts'
import { requestHmac } from '../request-hmac.ts'

/** How long a signed request is good for, before and after its time. */
const AGE_MAX_SECONDS = 300

export type SignedRequest = {
  method: string
  /** Spellings of path and query that the client may have signed. */
  targets: Iterable<string>
  body: Buffer
  signature: string | undefined
  timestamp: string | undefined
}

const unauthorized = (message: string): Refusal => new Refusal(1401, { message })

/**
 * Judges X-Signature and X-Timestamp (specification, Authentication, 6): lowercase hex of
 * HMAC-SHA256 over method, path with query, timestamp and raw body, one after the other. Ten
 * digits of timestamp, no more and no less, keep the parts from flowing into each other.
 * @param secrets that of the provider, and while a rotation overlaps the one before it
 * @returns 401/1401 with the published message, 400/1400 for a timestamp that is none
 */
export const checkSignature = (
  request: SignedRequest,
  secrets: readonly string[],
  now: Date,
): Refusal | undefined => {
  const { method, body, signature, timestamp } = request
  if (!signature) return unauthorized('HMAC signature required')
  if (!timestamp) return unauthorized('Request timestamp required')
  if (!/^[0-9]{10}$/.test(timestamp)) {
    return new Refusal(1400, { message: 'Invalid timestamp format' })
  }
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > AGE_MAX_SECONDS) {
    return unauthorized('Request timestamp expired')
  }
  for (const path of request.targets) {
    const parts = { method, path, timestamp, body }
    if (secrets.some((secret) => equal(signature, requestHmac(secret, parts)))) return undefined
  }
  return unauthorized('Invalid HMAC signature')
}

/** As text, so that no decoder of hex gets to ignore what it does not like. */
const equal = (given: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
