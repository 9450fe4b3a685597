import { timingSafeEqual } from 'node:crypto'
import { Refusal } from '../domain/refusal.ts'
import { requestHmac } from '../request-hmac.ts'

/** Maximum difference between X-Timestamp and the clock. */
const AGE_MAX_SECONDS = 300

export type SignedRequest = {
  method: string
  /** Candidates for the signed path and query. */
  targets: Iterable<string>
  body: Buffer
  signature: string | undefined
  timestamp: string | undefined
}

const unauthorized = (message: string): Refusal => new Refusal(1401, { message })

/**
 * Checks X-Signature and X-Timestamp (docs/api.md#request-signing). Exactly ten digits of timestamp
 * keep the concatenated parts unambiguous.
 * @param secrets the current one and, during a rotation, the previous one
 * @returns 401/1401 with the published message, 400/1400 for a malformed timestamp
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

/** Compares as text, because a hex decoder ignores invalid characters. */
const equal = (signature: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(signature), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
