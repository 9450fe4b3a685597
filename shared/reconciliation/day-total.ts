import { formatAmount } from '../domain/money.ts'
import type { Provider, ProviderId } from '../domain/providers/provider.ts'
import { DAY_MS, END_OF_TIME } from '../domain/time.ts'
import { findDayTotal } from '../store/debits/charges.ts'
import { changesWithin } from '../store/operator/changes.ts'
import { findProvider } from '../store/providers/providers.ts'
import { type CheckResult, checkResult, type Findings, notApplicable } from './findings.ts'
import type { PartScope, Task } from './part.ts'
import type { Window } from './records.ts'
import { whole } from './sums.ts'

/** Reads the day's total before the debits of the day. */
export const readTotal = async (_: unknown, scope: PartScope): Promise<Task[]> => {
  scope.total = (await findDayTotal(scope.provider, scope.window.date)) ?? null
  return []
}

/** Compares the day's total with its debits. @param first the total before the debits were read */
export const checkTotal = async (
  provider: ProviderId,
  { sum, first }: { sum: bigint; first: number | null | undefined },
  window: Window,
  findings: Findings,
): Promise<void> => {
  const [last, settings] = await Promise.all([
    findDayTotal(provider, window.date),
    findProvider(provider),
  ])
  const isAbove = settings?.dailyLimit !== undefined && sum > whole(settings.dailyLimit)
  const limit = isAbove ? await highestLimit(settings, window) : undefined
  const total = { sum, isStable: (first ?? undefined) === last, last, limit }
  findings.add(20, { provider, subject: window.date }, isCounted(total, window))
}

/** A charge reads its limit up to 25 s before its write, from a cache of 30 s. */
const CACHED_MS = 60_000
/** A change has the time of the start of its call. */
const CALL_MS = 900_000

/** Returns the highest limit that a charge of the day had; undefined if one had none. */
const highestLimit = async ({ id, dailyLimit }: Provider, { from: start }: Window) => {
  let highest = whole(dailyLimit ?? 0)
  const from = new Date(start.getTime() - CACHED_MS - CALL_MS)
  for await (const { target, verb, changed } of changesWithin({ from, before: END_OF_TIME })) {
    const earlier = changed.daily_limit?.from
    if (target !== id || verb === 'create' || earlier === undefined) continue
    if (earlier === null) return undefined
    const limit = BigInt(String(earlier).replace('.', ''))
    if (limit > highest) highest = limit
  }
  return highest
}

type DayTotal = {
  sum: bigint
  isStable: boolean
  last: number | undefined
  limit: bigint | undefined
}

/** The lifetime of a counter. */
const RETENTION_MS = 399 * DAY_MS

/** Compares sum and counter only if the counter was stable. */
const isCounted = ({ sum, isStable, last, limit }: DayTotal, window: Window): CheckResult => {
  const isRetained = window.now.getTime() - window.from.getTime() < RETENTION_MS
  if (last === undefined && (sum === 0n || !isRetained)) return notApplicable
  return checkResult({
    [`has no total, but debits of ${formatAmount(sum)}`]: last === undefined,
    [`has a total of ${formatAmount(whole(last ?? 0))}, but debits of ${formatAmount(sum)}`]:
      last !== undefined && isStable && whole(last) !== sum,
    [`has debits of ${formatAmount(sum)}, above its limit of ${formatAmount(limit ?? 0n)}`]:
      limit !== undefined && sum > limit,
  })
}
