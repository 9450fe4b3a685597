import type { Debit } from '../domain/debits/debit.ts'
import { type CheckResult, checkResult, notApplicable } from './invariants.ts'
import { inGhs, whole } from './sums.ts'
import type { Window } from './window.ts'

/** What a debit has in the total of its day; one that failed has given it back. */
export const shareOf = ({ facts, status }: Debit, { date }: Window): bigint =>
  facts.countedOn === date && status !== 'failed' ? whole(facts.amount) : 0n

type DayTotal = {
  sum: bigint
  /** The counter as it stood before the debits were read, and after. */
  first: number | undefined
  last: number | undefined
  limit: number | undefined
}

/** As long as counters are kept. */
const KEPT_MS = 399 * 86_400_000

/**
 * At rest the counter is the sum; while charges come and fail, what was read one after the other
 * need not fit. The limit is today's: one that was lowered meanwhile shows here.
 */
export const isCounted = ({ sum, first, last, limit }: DayTotal, terms: Window): CheckResult => {
  const isKept = terms.now.getTime() - terms.from.getTime() < KEPT_MS
  if (last === undefined && (sum === 0n || !isKept)) return notApplicable
  return checkResult({
    [`its debits add up to ${inGhs(sum)}, but it has no total`]: last === undefined,
    [`its total is ${inGhs(whole(last ?? 0))}, but its debits add up to ${inGhs(sum)}`]:
      last !== undefined && first === last && whole(last) !== sum,
    [`its debits add up to ${inGhs(sum)}, over its limit of ${inGhs(whole(limit ?? 0))}`]:
      limit !== undefined && sum > whole(limit),
  })
}
