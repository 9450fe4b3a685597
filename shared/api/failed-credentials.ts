import { Refusal } from '../domain/refusal.ts'
import { sha256 } from '../store/keys.ts'
import { countRequest } from '../store/rate-limit.ts'
import { addressScope } from './address.ts'
import type { ApiEvent, Guard } from './context.ts'
import { rateRefusal } from './rate-guard.ts'

/** Rejected credentials per minute and scope; above this limit the reply is 429/1453. */
const FAILURES_PER_MINUTE = 30

/**
 * Counts a rejected credential per address, or per key and address if the key is known. Accepted
 * requests count in other scopes, so an attacker cannot block the owner of a key.
 * @returns the refusal, or 429/1453 above the limit (docs/api.md#failed-credentials)
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

/** Wraps a guard and counts each of its refusals as a failed credential. */
export const countingFailures = (guard: Guard): Guard => ({
  before: async (request) => {
    try {
      await guard.before?.(request)
    } catch (error) {
      throw error instanceof Refusal ? await countFailure(error, request.event) : error
    }
  },
})
