import { Refusal } from '../domain/refusal.ts'
import { environment } from '../runtime.ts'
import { sha256 } from '../store/table.ts'
import { countRequest, type Rate } from '../store/windows.ts'
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

const ownerOf = ({ exchange: { caller } }: ApiEvent): string =>
  caller?.kind === 'provider' ? caller.partner.id : (caller?.bank ?? '')

/** The request's own window, and that of all of its caller's requests where there is one. */
const count = async (name: string, operation: Operation, event: ApiEvent): Promise<Rate> => {
  const { limit } = operation
  const { at } = event.exchange
  const all = `${name}#${ownerOf(event)}`
  const own = limit[environment.limits]
  if (limit.per === 'caller') return countRequest(all, own, at)
  // The reference is the caller's text: only its hash may stand in a key.
  const one = `${all}#${sha256(event.pathParameters?.reference ?? '')}`
  const [rate, total] = await Promise.all([
    countRequest(one, own, at),
    limit.perCaller && countRequest(all, limit.perCaller[environment.limits], at),
  ])
  return total?.exceeded ? total : rate
}

/**
 * Counts the request. What changes something waits for the count; a read goes on beside it, and
 * the reply waits for both.
 */
export const rateGuard = (name: string, operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    exchange.counting = count(name, operation, event)
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
