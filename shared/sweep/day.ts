import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import { findDebits } from '../store/debits/debits.ts'
import { repair } from './repair.ts'

/**
 * What an operator has looked at after a stream was lost for days or a table was restored: every
 * debit that a provider charged on a day, however long ago. What is missing of it is done anew.
 */

const TOGETHER = 25

export type RepairedDay = {
  lookedAt: number
  /** References of which something was missing. */
  repaired: string[]
  /** References of items that cannot be read; each is logged as a fault. */
  unreadable: string[]
  /** Whether the time was enough for all of them. */
  isDone: boolean
}

/** @param isOver whether the time is used up; what was not looked at by then, another run finds */
export const repairDay = async (
  provider: ProviderId,
  date: Day,
  { now }: Pick<Runtime, 'now'>,
  isOver: () => boolean,
): Promise<RepairedDay> => {
  const from = startOf(date)
  const span = { from, before: startOf(dayAfter(date)), pageSize: TOGETHER }
  const repaired = new Set<string>()
  const unreadable = new Set<string>()
  const unread = (reference: string, error: Error) => {
    unreadable.add(reference)
    logUnreadable('repair')(reference, error)
  }
  let lookedAt = 0
  const state = (isDone: boolean) => ({
    lookedAt,
    repaired: [...repaired],
    unreadable: [...unreadable],
    isDone,
  })
  for await (const references of createdWithin(provider, span, new Set())) {
    if (isOver()) return state(false)
    const debits = await findDebits(references, unread)
    for (const reference of await repair([...debits.values()], now(), from)) repaired.add(reference)
    lookedAt += references.length
  }
  return state(true)
}
