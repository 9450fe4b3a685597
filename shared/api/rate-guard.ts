import { Refusal } from '../domain/refusal.ts'
import type { RequestLimits } from '../domain/request-limits.ts'
import { environment } from '../runtime.ts'
import { sha256 } from '../store/keys.ts'
import { type CountRequest, leasedCounter, type RateStanding } from '../store/rate-limit.ts'
import type { ApiEvent, Guard, RequestContext } from './context.ts'
import { type Operation, type OperationName, operations } from './operations.ts'

/** Requests per minute in the published scope, and over all references. */
type EffectiveLimit = { perMinute: number; total?: number }

/** Returns the override of a provider or bank, or the published limit. An override scales `total` too. */
export const effectiveLimit = (
  name: OperationName,
  overrides: RequestLimits = {},
): EffectiveLimit => {
  const { limit }: Operation = operations[name]
  const published = limit[environment.limits]
  const perMinute = overrides[name] ?? published
  if (!limit.perCaller) return { perMinute }
  const total = limit.perCaller[environment.limits]
  return { perMinute, total: Math.ceil((total * perMinute) / published) }
}

/** Returns the 429 of an exceeded limit (docs/api.md#rate-limits). */
export const rateRefusal = (
  code: 1453 | Operation['limit']['code'],
  { rate, receivedAt }: Pick<RequestContext, 'rate' | 'receivedAt'>,
): Refusal => {
  const retryAfter = Math.max(1, rate.reset - Math.floor(receivedAt.getTime() / 1000))
  return new Refusal(code, {
    details: { limit: rate.limit, period: 'minute', retry_after: retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  })
}

/** Returns the scope of a caller: a provider with all its credentials, or one token of a bank. */
const scopeOf = ({ caller }: RequestContext): string =>
  caller?.kind === 'provider' ? caller.provider.id : (caller?.credential ?? '')

/** Counts in the published scope and, for a limit per reference, over all references. */
const count = async (
  name: OperationName,
  event: ApiEvent,
  countRequest: CountRequest,
): Promise<RateStanding> => {
  const { context, pathParameters } = event
  const { perMinute, total } = effectiveLimit(name, context.caller?.limits)
  const scope = `${name}#${scopeOf(context)}`
  const { per }: Operation['limit'] = operations[name].limit
  if (per !== 'reference') return countRequest(scope, perMinute, context.receivedAt)
  // The reference is untrusted text, so the key contains its hash.
  const referenceScope = `${scope}#${sha256(pathParameters?.reference ?? '')}`
  const [rate, overall] = await Promise.all([
    countRequest(referenceScope, perMinute, context.receivedAt),
    total === undefined ? undefined : countRequest(scope, total, context.receivedAt),
  ])
  return overall?.exceeded ? overall : rate
}

/**
 * Counts the request before any work, so a request above its limit costs a write or none. Only a
 * cheap point read runs in parallel; the reply waits for both.
 */
export const rateGuard = (name: OperationName, operation: Operation): Guard => {
  const countRequest = leasedCounter()
  return {
    before: async ({ event }) => {
      const { context } = event
      context.counting = count(name, event, countRequest)
      // settleRate handles a failure; until then it must not end the process.
      context.counting.catch(() => undefined)
      if (!operation.readsInParallel) await settleRate(operation, context)
    },
  }
}

/** Waits for the count; throws 429 above the limit. */
export const settleRate = async (operation: Operation, context: RequestContext): Promise<void> => {
  if (!context.counting) return
  context.rate = await context.counting
  if (context.rate.exceeded) throw rateRefusal(operation.limit.code, context)
}
