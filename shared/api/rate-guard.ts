import { Refusal } from '../domain/refusal.ts'
import { environment } from '../runtime.ts'
import { sha256 } from '../store/table.ts'
import { countRequest } from '../store/windows.ts'
import type { ApiEvent, Exchange, Guard } from './exchange.ts'
import type { Operation } from './operations.ts'

/** What an exceeded limit is answered with: 429, `Retry-After` and the published details. */
export const rateRefusal = (
  code: 1453 | Operation['limit']['code'],
  { rate, at }: Exchange,
): Refusal => {
  const retryAfter = Math.max(1, rate.reset - Math.floor(at.getTime() / 1000))
  return new Refusal(code, {
    details: { limit: rate.limit, period: 'minute', retry_after: retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  })
}

const scopeOf = (name: string, operation: Operation, event: ApiEvent): string => {
  const { caller } = event.exchange
  const owner = caller?.kind === 'provider' ? caller.partner.id : caller?.bank
  const scope = `${name}#${owner}`
  // The reference is the caller's text: only its hash may stand in a key.
  return operation.limit.per === 'reference'
    ? `${scope}#${sha256(event.pathParameters?.reference ?? '')}`
    : scope
}

/**
 * Counts the request. What changes something waits for the count; a read goes on beside it, and
 * the reply waits for both.
 */
export const rateGuard = (name: string, operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    const limit = operation.limit[environment.limits]
    exchange.counting = countRequest(scopeOf(name, operation, event), limit, exchange.at)
    // Whoever awaits the count sees its failure; until then it must not end the process.
    exchange.counting.catch(() => undefined)
    if (operation.method !== 'GET') await settleRate(operation, exchange)
  },
})

/** Waits for the count; 429 with the operation's own code above the limit. */
export const settleRate = async (operation: Operation, exchange: Exchange): Promise<void> => {
  if (!exchange.counting) return
  exchange.rate = await exchange.counting
  if (exchange.rate.exceeded) throw rateRefusal(operation.limit.code, exchange)
}
