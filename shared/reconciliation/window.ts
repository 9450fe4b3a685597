import { type Clocks, clocks } from '../domain/debits/lifecycle.ts'
import type { Restore } from '../domain/operator/restore.ts'
import { type Day, dayAfter, dayOf, HOUR_MS, startOf } from '../domain/time.ts'
import { environment } from '../runtime.ts'

export type Window = {
  date: Day
  from: Date
  before: Date
  now: Date
  prefix: string
  clocks: Clocks
  /** The start of the last finished run: debits completed before it must be settled. */
  settledBefore: Date
  /** The last restore; held debits and payouts are not differences. */
  restore?: Restore | undefined
}

/** The runs of a night start at 00:00, 00:20 and 01:00, and long ones are continued. */
const RUNS_MS = 2 * HOUR_MS

export const windowOf = (date: Day, now: Date): Window => ({
  date,
  from: startOf(date),
  before: startOf(dayAfter(date)),
  now,
  prefix: environment.referencePrefix,
  clocks: clocks(environment.timeScale),
  settledBefore: startOf(dayOf(new Date(now.getTime() - RUNS_MS))),
})

/** After this time an operator must ask the bank about a payout or refund. */
const IN_PROGRESS_MS = 48 * HOUR_MS

export const isTooOld = (since: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - since.getTime() > IN_PROGRESS_MS

export const isLongAgo = (at: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - at.getTime() > RUNS_MS
