import { formatAmount } from '../domain/money.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { DAY_MS } from '../domain/time.ts'
import { findDayTotal } from '../store/debits/charges.ts'
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
  const total = { sum, isStable: (first ?? undefined) === last, last, limit: settings?.dailyLimit }
  findings.add(20, { provider, subject: window.date }, isCounted(total, window))
}

type DayTotal = {
  sum: bigint
  isStable: boolean
  last: number | undefined
  limit: number | undefined
}

/** The lifetime of a counter. */
const RETENTION_MS = 399 * DAY_MS

/** Compares sum and counter only if the counter was stable. The limit is the current one. */
const isCounted = ({ sum, isStable, last, limit }: DayTotal, window: Window): CheckResult => {
  const isRetained = window.now.getTime() - window.from.getTime() < RETENTION_MS
  if (last === undefined && (sum === 0n || !isRetained)) return notApplicable
  return checkResult({
    [`has no total, but debits of ${formatAmount(sum)}`]: last === undefined,
    [`has a total of ${formatAmount(whole(last ?? 0))}, but debits of ${formatAmount(sum)}`]:
      last !== undefined && isStable && whole(last) !== sum,
    [`has debits of ${formatAmount(sum)}, above its limit of ${formatAmount(whole(limit ?? 0))}`]:
      limit !== undefined && sum > whole(limit),
  })
}
