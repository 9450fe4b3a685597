import { Refusal } from '../domain/refusal.ts'
import { sha256 } from '../store/keys.ts'
import { countRequest } from '../store/rate-limit.ts'
import { addressScope } from './address.ts'
import type { ApiEvent, Guard } from './context.ts'
import { rateRefusal } from './rate-guard.ts'

/** Rejected credentials per minute before they are answered with 429/1453. */
const FAILURES_PER_MINUTE = 30

/**
 * Counts a rejected credential: per address, or per key and address once the key is known. Requests
 * that pass are in other scopes, so an attacker cannot block the owner of a key.
 * @returns the refusal itself, or 429/1453 above the limit
 */
export const countFailure = async (
  refusal: Refusal,
  { context, requestContext }: ApiEvent,
): Promise<Refusal> => {
  const key = context.caller?.credential ?? ''
  const address = addressScope(requestContext?.identity?.sourceIp)
  const scope = `address#${sha256(`${key}#${address}`)}`
  context.credentialRefused = true
  context.rate = await countRequest(scope, FAILURES_PER_MINUTE, context.at)
  return context.rate.exceeded ? rateRefusal(1453, context) : refusal
}

/** The same guard, with each refusal counted as a failed credential. */
export const countingFailures = (guard: Guard): Guard => ({
  before: async (request) => {
    try {
      await guard.before?.(request)
    } catch (error) {
      throw error instanceof Refusal ? await countFailure(error, request.event) : error
    }
  },
})
