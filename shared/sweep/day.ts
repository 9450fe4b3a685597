import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import { findDebits } from '../store/debits/debits.ts'
import { repair } from './repair.ts'

const PAGE_SIZE = 25

/** Repairs every debit that a provider charged on a day. Stops when the time is up. */
export const repairDay = async (
  provider: ProviderId,
  date: Day,
  { now }: Pick<Runtime, 'now'>,
  timeIsUp: () => boolean,
) => {
  const from = startOf(date)
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
    const debits = await findDebits(references, onUnreadable)
    for (const reference of await repair([...debits.values()], now(), from)) repaired.add(reference)
    lookedAt += references.length
  }
  return result(true)
}
