import { Refusal } from '../domain/refusal.ts'
import { sha256 } from '../store/keys.ts'
import { countRequest, type RateStanding } from '../store/rate-limit.ts'
import type { ApiEvent, Guard, RequestContext } from './context.ts'
import { effectiveLimit } from './effective-limit.ts'
import { type Operation, type OperationName, operations } from './operations.ts'

/** Returns the refusal of an exceeded limit: 429, `Retry-After` and the published details. */
export const rateRefusal = (
  code: 1453 | Operation['limit']['code'],
  { rate, at }: Pick<RequestContext, 'rate' | 'at'>,
): Refusal => {
  const retryAfter = Math.max(1, rate.reset - Math.floor(at.getTime() / 1000))
  return new Refusal(code, {
    details: { limit: rate.limit, period: 'minute', retry_after: retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  })
}

/** A provider with all of its credentials, or one token of a bank. */
const scopeOf = ({ caller }: RequestContext): string =>
  caller?.kind === 'provider' ? caller.provider.id : (caller?.credential ?? '')

/** Counts in the scope of the published limit, and in the total over all references if there is one. */
const count = async (name: OperationName, event: ApiEvent): Promise<RateStanding> => {
  const { context, pathParameters } = event
  const { perMinute, total } = effectiveLimit(name, context.caller?.limits)
  const scope = `${name}#${scopeOf(context)}`
  const { per }: Operation['limit'] = operations[name].limit
  if (per !== 'reference') return countRequest(scope, perMinute, context.at)
  // The reference is the caller's text: only its hash may stand in a key.
  const one = `${scope}#${sha256(pathParameters?.reference ?? '')}`
  const [rate, all] = await Promise.all([
    countRequest(one, perMinute, context.at),
    total === undefined ? undefined : countRequest(scope, total, context.at),
  ])
  return all?.exceeded ? all : rate
}

/**
 * Counts the request. Work waits for the count, so that a request above its limit costs one write;
 * only a cheap point read runs in parallel, and the reply waits for both.
 */
export const rateGuard = (name: OperationName, operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { context } = event
    context.counting = count(name, event)
    // The awaiting code sees a failure; until then it must not end the process.
    context.counting.catch(() => undefined)
    if (!operation.readsInParallel) await settleRate(operation, context)
  },
})

/** Waits for the count; 429 with the operation's own code above the limit. */
export const settleRate = async (operation: Operation, exchange: RequestContext): Promise<void> => {
  if (!exchange.counting) return
  exchange.rate = await exchange.counting
  if (exchange.rate.exceeded) throw rateRefusal(operation.limit.code, exchange)
}
