import type { Holidays } from '../domain/banks/calendar.ts'
import { type Batch, payoutDay } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import type { Figures } from '../metrics.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { countOpenExceptions, countOverdueRequests } from '../store/debits/exceptions.ts'
import { listProviders } from '../store/providers/providers.ts'
import {
  findBatches,
  listBatchesFrom,
  listFailed,
  listPayable,
} from '../store/settlement/batches.ts'
import { holidaysUntil, payoutDayOf, WAITS_DAYS } from './payout-day.ts'

const READS_AT_ONCE = 8

/** Gives batches the days on which they can be paid now. */
const withPayoutDays = (batches: readonly Batch[], holidays: Holidays): Promise<Batch[]> =>
  mapConcurrent(batches, READS_AT_ONCE, async (batch) => ({
    ...batch,
    payOn: await payoutDayOf(batch, holidays),
  }))

/** Counts the batches that were due on the day before, and those that were not paid on it. */
const countPayouts = async (today: Day, holidays: Holidays): Promise<Figures> => {
  const [yesterday, from] = [dayAfter(today, -1), dayAfter(today, -1 - WAITS_DAYS)]
  const lists = await mapConcurrent(await listProviders(), READS_AT_ONCE, (provider) =>
    listBatchesFrom(provider, from),
  )
  const due = (await withPayoutDays(lists.flat(), holidays)).filter(
    (batch) => payoutDay(batch) === yesterday && (batch.totals?.net ?? 0) >= 0,
  )
  const late = due.filter(({ completedAt }) => !completedAt || completedAt >= startOf(today))
  return { PayoutsDue: due.length, PayoutsLate: late.length }
}

const countOverdue = async (today: Day, holidays: Holidays): Promise<number> => {
  const until = new Date(startOf(today).getTime() - 1)
  const [payable, failed] = await Promise.all([listPayable(until), listFailed(until)])
  const batches = await withPayoutDays(await findBatches(payable), holidays)
  return batches.filter((batch) => payoutDay(batch) < today).length + failed.length
}

/** Returns the payouts of the last day, and the work that waits for an operator, for alarms that ring each night until it is done. */
export const nightlyFigures = async (today: Day): Promise<Figures> => {
  const holidays = await holidaysUntil(dayAfter(today, -1))
  const [payouts, overdue, exceptions, requests] = await Promise.all([
    countPayouts(today, holidays),
    countOverdue(today, holidays),
    countOpenExceptions(),
    countOverdueRequests(today),
  ])
  return {
    ...payouts,
    OpenExceptions: exceptions,
    RequestsOverdue: requests,
    OverduePayouts: overdue,
  }
}
