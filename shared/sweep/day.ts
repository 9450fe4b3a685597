import { isOpen } from '../domain/debits/lifecycle.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, dayAfter, secondsAfter, startOf } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import { findWithDeliveries } from '../store/webhooks/deliveries.ts'
import { type CheckedDebit, repair } from './repair.ts'
import { follow } from './run.ts'

/** The debits of one read of the feed. */
const PAGE_SIZE = 1_000
const READS_AT_ONCE = 10
/** An event can be dated before the charge of its debit, by a clock that is behind. */
const CLOCKS_SECONDS = 300

/** Repairs every debit that a provider charged on a day, and makes the sweep follow the open ones. Stops when the time is up. */
export const repairDay = async (
  provider: ProviderId,
  date: Day,
  { now }: Pick<Runtime, 'now'>,
  timeIsUp: () => boolean,
) => {
  const from = startOf(date)
  const since = secondsAfter(from, -CLOCKS_SECONDS)
  const span = { from, before: startOf(dayAfter(date)), pageSize: PAGE_SIZE }
  /** References of debits with missing follow-up work. */
  const repaired = new Set<string>()
  /** References of items that cannot be read; each is logged as a fault. */
  const unreadable = new Set<string>()
  const onUnreadable = (reference: string, error: Error) => {
    unreadable.add(reference)
    logUnreadable('repair')(reference, error)
  }
  let lookedAt = 0
  const result = (isDone: boolean) => ({
    lookedAt,
    repaired: [...repaired],
    unreadable: [...unreadable],
    isDone,
  })
  for await (const references of createdWithin(provider, span, new Set())) {
    if (timeIsUp()) return result(false)
    const debits: CheckedDebit[] = []
    await mapConcurrent(references, READS_AT_ONCE, async (reference) => {
      const options = { unreadable: onUnreadable }
      const { debit, deliveries } = await findWithDeliveries(reference, options)
      if (debit) debits.push({ debit, deliveries })
    })
    const { missing, failed } = await repair(provider, debits, now(), { since: () => since })
    if (failed.size > 0) throw new Error(`${failed.size} debits could not be repaired`)
    // The sweep has no other way to a debit that an index listed too late.
    const open = debits.filter(({ debit }) => isOpen(debit.status))
    await follow(open, { missing, failed }, now())
    for (const reference of missing) repaired.add(reference)
    lookedAt += references.length
  }
  return result(true)
}
