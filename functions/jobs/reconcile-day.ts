import { yearAfter, yearOf } from '../../shared/domain/banks/calendar.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { log } from '../../shared/log.ts'
import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { daysToReconcile, startRun } from '../../shared/reconciliation/runs.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { nightlyFigures } from '../../shared/settlement/nightly-figures.ts'
import { listUnfinished } from '../../shared/settlement/unfinished.ts'
import { listBanks } from '../../shared/store/banks/banks.ts'
import { findCalendar } from '../../shared/store/banks/calendar.ts'
import { mapConcurrent } from '../../shared/store/concurrent.ts'
import { keepOpenMatters } from '../../shared/store/debits/open-matters.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'

const PROVIDERS_AT_ONCE = 8

/** Reports whether a payout or the answer to a reversal request waits for a working day. */
const needsCalendar = async (): Promise<boolean> => {
  const banks = await listBanks()
  if (banks.some(({ payoutDays }) => payoutDays === 'working')) return true
  const providers = await mapConcurrent(await listProviders(), PROVIDERS_AT_ONCE, findProvider)
  return providers.some((provider) => provider?.reversals === 'request')
}

/** Looks for the holidays of the year, and in December for those of the next one. */
const isCalendarMissing = async (today: Day): Promise<boolean> => {
  const years = [yearOf(today), ...(today.includes('-12-') ? [yearAfter(today)] : [])]
  const calendars = await Promise.all(years.map(findCalendar))
  const isComplete = calendars.every((one) => one && Object.keys(one.days).length > 0)
  return !isComplete && needsCalendar()
}

/**
 * Runs at 02:00 UTC. Logs providers that the night's runs have not fully settled, then starts the
 * reconciliation of the day before (docs/api.md#reconciliation), whose debits are final by then, and of the
 * days whose message was lost or late. The stream requests the parts. At last it extends old debits with
 * open matters. A repeated run has no effect.
 */
export const reconcileDay = (runtime: Pick<Runtime, 'now' | 'newId'>) =>
  consumer('reconciliations', async () => {
    const now = runtime.now()
    const today = dayOf(now)
    const unfinished = await listUnfinished(today)
    const figures = { SettlementUnfinished: unfinished.length, ...(await nightlyFigures(today)) }
    if (unfinished.length === 0) measure(figures)
    else log.error('settlement unfinished', { date: today, unfinished }, figures)
    if (await isCalendarMissing(today)) measure({ CalendarMissing: 1 })
    for (const day of await daysToReconcile(dayAfter(today, -1))) await startRun(day, day, runtime)
    await keepOpenMatters(now)
  })

export const handler = reconcileDay(real)
