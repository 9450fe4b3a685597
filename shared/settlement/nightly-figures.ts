import { payoutDay } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import type { Figures } from '../metrics.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { countOpenExceptions, countOverdueRequests } from '../store/debits/exceptions.ts'
import { listProviders } from '../store/providers/providers.ts'
import { listBatchesFrom, listFailed, listPayable } from '../store/settlement/batches.ts'

const PROVIDERS_AT_ONCE = 8
/** The longest time from a run to the first working day after it. */
const WAITS_DAYS = 10

/** Counts the batches that were due on the day before, and those that were not paid on it. */
const countPayouts = async (today: Day): Promise<Figures> => {
  const [yesterday, from] = [dayAfter(today, -1), dayAfter(today, -1 - WAITS_DAYS)]
  const lists = await mapConcurrent(await listProviders(), PROVIDERS_AT_ONCE, (provider) =>
    listBatchesFrom(provider, from),
  )
  const due = lists
    .flat()
    .filter((batch) => payoutDay(batch) === yesterday && (batch.totals?.net ?? 0) >= 0)
  const late = due.filter(({ completedAt }) => !completedAt || completedAt >= startOf(today))
  return { PayoutsDue: due.length, PayoutsLate: late.length }
}

/** Returns the payouts of the last day, and the work that waits for an operator, for alarms that ring each night until it is done. */
export const nightlyFigures = async (today: Day): Promise<Figures> => {
  const until = new Date(startOf(today).getTime() - 1)
  const [payouts, exceptions, requests, payable, failed] = await Promise.all([
    countPayouts(today),
    countOpenExceptions(),
    countOverdueRequests(today),
    listPayable(until),
    listFailed(until),
  ])
  return {
    ...payouts,
    OpenExceptions: exceptions,
    RequestsOverdue: requests,
    OverduePayouts: payable.length + failed.length,
  }
}
