import { type Day, dayAfter, startOf } from '../domain/time.ts'
import type { Figures } from '../metrics.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { countOpenExceptions } from '../store/debits/exceptions.ts'
import { listProviders } from '../store/providers/providers.ts'
import { listBatchesOfDay, listFailed, listPayable } from '../store/settlement/batches.ts'

const PROVIDERS_AT_ONCE = 8

/** Counts the batches that were due on the day before, and those that were not paid on it. */
const countPayouts = async (today: Day): Promise<Figures> => {
  const built = dayAfter(today, -2)
  const lists = await mapConcurrent(await listProviders(), PROVIDERS_AT_ONCE, (provider) =>
    listBatchesOfDay(provider, built),
  )
  const due = lists.flat().filter(({ totals }) => !totals || totals.net >= 0)
  const late = due.filter(({ completedAt }) => !completedAt || completedAt >= startOf(today))
  return { PayoutsDue: due.length, PayoutsLate: late.length }
}

/** Returns the payouts of the last day, and the work that waits for an operator, for alarms that ring each night until it is done. */
export const nightlyFigures = async (today: Day): Promise<Figures> => {
  const until = new Date(startOf(today).getTime() - 1)
  const [payouts, exceptions, payable, failed] = await Promise.all([
    countPayouts(today),
    countOpenExceptions(),
    listPayable(until),
    listFailed(until),
  ])
  return { ...payouts, OpenExceptions: exceptions, OverduePayouts: payable.length + failed.length }
}
