import { statuses } from '../domain/lifecycle.ts'
import type { PartnerId } from '../domain/partner.ts'
import { type Day, dayAfter, startOf } from '../domain/settlement.ts'
import type { Runtime } from '../runtime.ts'
import { createdPages } from '../store/debit-lists.ts'
import { findDebits } from '../store/debits.ts'
import { repair } from './repair.ts'

/**
 * What an operator has looked at after a stream was lost for days or a table was restored: every
 * debit that a partner charged on a day, however long ago. What is missing of it is done anew.
 */

const TOGETHER = 25

export type RepairedDay = {
  lookedAt: number
  /** References of which something was missing. */
  repaired: string[]
  /** Whether the time was enough for all of them. */
  isDone: boolean
}

/** @param isOver whether the time is used up; what was not looked at by then, another run finds */
export const repairDay = async (
  partner: PartnerId,
  date: Day,
  { now }: Pick<Runtime, 'now'>,
  isOver: () => boolean,
): Promise<RepairedDay> => {
  const from = startOf(date)
  const span = { from, before: startOf(dayAfter(date)), pageSize: TOGETHER }
  // One that moves on meanwhile is found in a later list, or in both: they are in the order of the
  // lifecycle.
  const seen = new Set<string>()
  const repaired = new Set<string>()
  const state = (isDone: boolean) => ({ lookedAt: seen.size, repaired: [...repaired], isDone })
  for (const status of statuses) {
    for await (const page of createdPages(partner, status, span)) {
      if (isOver()) return state(false)
      const fresh = page.filter((reference) => !seen.has(reference))
      const debits = await findDebits(fresh)
      for (const reference of await repair([...debits.values()], now(), from)) {
        repaired.add(reference)
      }
      for (const reference of fresh) seen.add(reference)
    }
  }
  return state(true)
}
