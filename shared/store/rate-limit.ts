import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { keys } from './keys.ts'
import { expiresAt, table, tableName } from './table.ts'

const WINDOW_SECONDS = 60

/** The use of a request limit in the current minute (docs/api.md#rate-limits). */
export type RateStanding = {
  limit: number
  remaining: number
  /** Epoch seconds at which the window ends. */
  reset: number
  exceeded: boolean
}

export type CountRequest = (scope: string, limit: number, now: Date) => Promise<RateStanding>

export const unused = (limit: number, now: Date): RateStanding => ({
  limit,
  remaining: limit,
  reset: windowStart(now) + WINDOW_SECONDS,
  exceeded: false,
})

const windowStart = (now: Date): number => {
  const seconds = Math.floor(now.getTime() / 1000)
  return seconds - (seconds % WINDOW_SECONDS)
}

/** Counts one request in the caller's window, with one write. */
export const countRequest: CountRequest = async (scope, limit, now) => {
  const { granted } = await grant(scope, now, 1)
  const remaining = Math.max(0, limit - granted)
  return { ...unused(limit, now), remaining, exceeded: granted > limit }
}

/** The change of a window's floating tokens, and their largest number before it. */
type Floating = { change: number; max?: number | undefined }

/** Adds tokens to a window. Returns the sums after the write. */
const grant = async (scope: string, now: Date, tokens: number, floating?: Floating) => {
  const { change, max } = floating ?? {}
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: keys.window(scope, windowStart(now)),
      UpdateExpression: `SET expiresAt = :expires ADD requests :tokens${floating ? ', floating :change' : ''}`,
      ...(max !== undefined && {
        ConditionExpression: 'attribute_not_exists(floating) OR floating <= :max',
      }),
      ExpressionAttributeValues: {
        ':tokens': tokens,
        ':expires': expiresAt(now, 2 * WINDOW_SECONDS),
        ':change': change,
        ':max': max,
      },
      ReturnValues: 'UPDATED_NEW',
    }),
  )
  return { tokens, granted: Number(Attributes?.requests), floating: Number(Attributes?.floating) }
}

/** The requests of a worker in a window, and the tokens granted to all workers, as last read. */
type Use = { requests: number; granted: number }

const noUse: Use = { requests: 0, granted: 0 }

/** The tokens of one window that a worker has. */
type Lease = {
  start: number
  limit: number
  /** Unused tokens, and tokens used since the last write. */
  held: number
  used: number
  /** The tokens that are unused in all workers, as last read. */
  floating: number
  current: Use
  /** The use of the previous window. */
  previous: Use
  /** The last value published; concurrent writes may respond in any order. */
  remaining: number
}

/** The tokens that may lie unused in workers: 5 % of a limit. */
const floatingMaxOf = (limit: number): number => Math.floor(limit / 20)

/** A worker takes tokens for this time, at its own rate. */
const LEASE_SECONDS = 40
const LEASES_MAX = 1_000

/**
 * Returns the counter of one worker, which takes several tokens per write, so that most requests need
 * none. Tokens end with their window. The window counts the tokens that lie unused in workers as
 * `floating`, at most 5 % of the limit. So 95 % of a limit is served before the first rejection, and
 * never more than the limit. Limits below 20 have no floating tokens.
 */
export const leasedCounter = (): CountRequest => {
  const leases = new Map<string, Lease>()

  /** Returns the lease of the current window; undefined if the request began in an earlier one. */
  const leaseOf = (scope: string, limit: number, now: Date): Lease | undefined => {
    const start = windowStart(now)
    const last = leases.get(scope)
    if (last && last.start > start) return undefined
    const isCurrent = last?.start === start && last.limit === limit
    const lease = isCurrent ? last : newLease(start, limit, last)
    // Evicts the least recently used entry.
    leases.delete(scope)
    leases.set(scope, lease)
    const [oldest] = leases.size > LEASES_MAX ? leases.keys() : []
    if (oldest !== undefined) leases.delete(oldest)
    return lease
  }

  return async (scope, limit, now) => {
    const lease = leaseOf(scope, limit, now)
    if (!lease) return countRequest(scope, limit, now)
    lease.current.requests += 1
    const isServed =
      takeHeld(lease) ||
      (await takeGranted(lease, scope, now)) ||
      // Others of a burst have taken tokens in advance meanwhile.
      takeHeld(lease)
    const exceeded = !isServed
    const remaining = exceeded ? 0 : Math.max(0, limit - lease.current.granted + lease.held)
    lease.remaining = Math.min(lease.remaining, remaining)
    return { ...unused(limit, now), remaining: lease.remaining, exceeded }
  }
}

const newLease = (start: number, limit: number, last: Lease | undefined): Lease => ({
  start,
  limit,
  held: 0,
  used: 0,
  floating: 0,
  current: { ...noUse },
  previous: last?.start === start - WINDOW_SECONDS ? last.current : noUse,
  remaining: limit,
})

const takeHeld = (lease: Lease): boolean => {
  if (lease.held === 0) return false
  lease.held -= 1
  lease.used += 1
  return true
}

/** Takes a token from the table, and others in advance. Returns false when the limit is used up. */
const takeGranted = async (lease: Lease, scope: string, now: Date): Promise<boolean> => {
  // The sum never falls, so a full window needs no further write.
  if (lease.current.granted >= lease.limit) return false
  const { limit, used } = lease
  const extras = extrasOf(lease, now)
  lease.used = 0
  lease.floating += extras - used
  // If the write fails, its tokens are lost; the window counts them as floating.
  const result = await grantAhead(scope, now, { extras, used, limit })
  const before = result.granted - result.tokens
  const valid = Math.max(0, Math.min(result.tokens, limit - before))
  lease.current.granted = Math.max(lease.current.granted, result.granted)
  lease.floating = result.floating
  lease.held += Math.max(0, valid - 1)
  return valid > 0
}

/**
 * Returns how many tokens to take in advance: the worker's part of all requests in the last minute,
 * applied to the tokens that may float, and fewer near the limit and near the end of the window.
 */
const extrasOf = ({ current, previous, ...lease }: Lease, now: Date): number => {
  const { start, limit, floating, used } = lease
  const rest = 1 - (now.getTime() / 1000 - start) / WINDOW_SECONDS
  const own = current.requests + previous.requests * rest
  const all = Math.max(own, current.granted + previous.granted * rest)
  const extras = Math.min(
    own * Math.min(LEASE_SECONDS / WINDOW_SECONDS, rest),
    (floatingMaxOf(limit) * own) / all,
    floatingMaxOf(limit) - floating + used,
    (limit - current.granted) / 8,
  )
  return Math.max(0, Math.floor(extras))
}

/** Takes tokens in advance if few enough float, otherwise one token. Reports the used ones. */
const grantAhead = async (
  scope: string,
  now: Date,
  { extras, used, limit }: { extras: number; used: number; limit: number },
) => {
  if (extras > 0) {
    const change = extras - used
    try {
      return await grant(scope, now, 1 + extras, { change, max: floatingMaxOf(limit) - change })
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
    }
  }
  return grant(scope, now, 1, { change: -used })
}
