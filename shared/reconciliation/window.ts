import { type Clocks, clocks } from '../domain/debits/lifecycle.ts'
import type { Restore } from '../domain/operator/restore.ts'
import { type Day, dayAfter, dayOf, startOf } from '../domain/time.ts'
import { environment } from '../runtime.ts'

/** What everything is held against. */
export type Window = {
  date: Day
  from: Date
  before: Date
  now: Date
  prefix: string
  clocks: Clocks
  /** The day whose run is done: what was completed before it began must be settled. */
  settledBefore: Date
  /** The last restore; held debits and payouts are not differences. */
  restore?: Restore | undefined
}

const HOUR_MS = 3_600_000

/** The runs of a day begin at 00:00, 00:20 and 01:00, and a long one is left to others. */
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

/** A bank that has not decided about a payout or a refund by then must be asked by an operator. */
const IN_PROGRESS_MS = 48 * HOUR_MS

/** Whether a payout or a refund has been in progress for too long. */
export const isTooOld = (since: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - since.getTime() > IN_PROGRESS_MS

/** Whether what was to follow from an instant has had the time, and the runs of a night. */
export const isLongAgo = (at: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - at.getTime() > RUNS_MS
