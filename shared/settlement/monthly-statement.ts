import type { ProviderId } from '../domain/providers/provider.ts'
import { type MonthlyStatement, statementOf } from '../domain/settlement/monthly-statement.ts'
import { DAY_MS, type Month, monthOf, spanOfMonth } from '../domain/time.ts'
import { listBatchesOfMonth } from '../store/settlement/batches.ts'
import { hasUnsettled } from '../store/work-index.ts'

/** The batch of the last day has the debits of the days before it, and a late build can still open it. */
const isOpenAt = async (provider: ProviderId, month: Month, now: Date): Promise<boolean> =>
  month >= monthOf(now) ||
  hasUnsettled(provider, new Date(spanOfMonth(month).before.getTime() - DAY_MS))

export const readStatement = async (
  provider: ProviderId,
  month: Month,
  now: Date,
): Promise<MonthlyStatement> => {
  // Read first, because the batches get the unsettled debits.
  const isOpen = await isOpenAt(provider, month, now)
  return statementOf(provider, month, await listBatchesOfMonth(provider, month), isOpen)
}
