import { invalid, type Refusal } from '../domain/refusal.ts'
import { DAY_SECONDS, type Day, dayAfter, dayOf } from '../domain/time.ts'
import { environment } from '../runtime.ts'
import { expiresAt } from './table.ts'

/** When the table may remove a debit that has ended, and its records (docs/table.md#retention). */

/** At least a year of any calendar. */
export const YEAR_DAYS = 366
/** DynamoDB removes items in any order within days: what belongs to a debit or refund outlives it. */
const LONGER_DAYS = 31

/** Days for which ended debits stay; undefined: for ever. */
export const retainedDays = (): number | undefined =>
  environment.retainYears === undefined ? undefined : environment.retainYears * YEAR_DAYS

/** The attribute of an item, or none. */
export type Expiry = { expiresAt?: number }

const expiry = (at: Date, longerDays: number): Expiry => {
  const days = retainedDays()
  return days === undefined ? {} : { expiresAt: expiresAt(at, (days + longerDays) * DAY_SECONDS) }
}

/** @param at the last event of a debit or refund, or the day of its line */
export const debitExpiry = (at: Date): Expiry => expiry(at, 0)

/** @param at the event of a delivery, or the resolution of an exception */
export const recordExpiry = (at: Date): Expiry => expiry(at, LONGER_DAYS)

/** Returns the first day whose debits are all stored; undefined: any. */
export const retainedFrom = (now: Date): Day | undefined => {
  const days = retainedDays()
  return days === undefined ? undefined : dayAfter(dayOf(now), 1 - days)
}

/** Returns 422/1007 for a day of which debits may have expired: its records would be incomplete. */
export const refusalOfDay = (option: string, day: Day, now: Date): Refusal | undefined => {
  const from = retainedFrom(now)
  return from && day < from
    ? invalid({ [option]: [`must not be before ${from}: older debits have expired`] })
    : undefined
}
