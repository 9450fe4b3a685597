import { isOpen } from '../domain/debits/lifecycle.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, dayAfter, secondsAfter, startOf } from '../domain/time.ts'
import { log, logUnreadable } from '../log.ts'
import { type Runtime, timeLimit } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { createdPages } from '../store/debits/debit-lists.ts'
import { findWithDeliveries } from '../store/webhooks/deliveries.ts'
import { type CheckedDebit, repair } from './repair.ts'
import { follow } from './run.ts'

/** The debits of one read of the feed. */
const PAGE_SIZE = 1_000
const READS_AT_ONCE = 10
/** An event can be dated before the charge of its debit, by a clock that is behind. */
const CLOCKS_SECONDS = 300

// The parts of the function's fifteen minutes, in milliseconds from the call.
const WORK_MS = 780_000
const FEED_MS = 840_000

type DayRepair = {
  provider: ProviderId
  date: Day
  /** The place that an earlier call has reached. */
  after?: string | undefined
}

/**
 * Repairs every debit that a provider charged on a day, and makes the sweep follow the open ones.
 * @returns as `next` the place at which the time was up, or a fault stopped the repair
 */
export const repairDay = async (
  { provider, date, after }: DayRepair,
  runtime: Pick<Runtime, 'now'>,
  timeIsUp = timeLimit(runtime, WORK_MS),
) => {
  const { now } = runtime
  const feedTimeIsUp = timeLimit(runtime, FEED_MS)
  const from = startOf(date)
  const since = secondsAfter(from, -CLOCKS_SECONDS)
  const span = { from, before: startOf(dayAfter(date)), pageSize: PAGE_SIZE, after }
  /** References of debits with missing follow-up work. */
  const repaired = new Set<string>()
  /** References of items that cannot be read; each is logged as a fault. */
  const unreadable = new Set<string>()
  const onUnreadable = (reference: string, error: Error) => {
    unreadable.add(reference)
    logUnreadable('repair')(reference, error)
  }
  let lookedAt = 0
  let next = after
  const result = (isDone: boolean) => ({
    lookedAt,
    repaired: [...repaired],
    unreadable: [...unreadable],
    isDone,
    next: isDone ? undefined : next,
  })
  try {
    for await (const { references, place } of createdPages(provider, span, new Set())) {
      if (timeIsUp()) return result(false)
      const debits: CheckedDebit[] = []
      await mapConcurrent(references, READS_AT_ONCE, async (reference) => {
        const options = { unreadable: onUnreadable }
        const { debit, deliveries } = await findWithDeliveries(reference, options)
        if (debit) debits.push({ debit, deliveries })
      })
      const { missing, failed } = await repair(provider, debits, now(), {
        since: () => since,
        timeIsUp: feedTimeIsUp,
      })
      if (failed.size > 0) throw new Error(`${failed.size} debits could not be repaired`)
      // The sweep has no other way to a debit that an index listed too late.
      const open = debits.filter(({ debit }) => isOpen(debit.status))
      await follow(open, { missing, failed }, now())
      for (const reference of missing) repaired.add(reference)
      lookedAt += references.length
      next = place
    }
    return result(true)
  } catch (error) {
    // A repeat continues after the last complete page.
    if (next === after) throw error
    log.error('fault', { job: 'repair', subject: [provider], error })
    return result(false)
  }
}
