import type { Debit } from '../domain/debits/debit.ts'
import type { ReportException } from '../domain/debits/exception.ts'
import type { DebitEventName } from '../domain/debits/lifecycle.ts'
import type { Refund } from '../domain/debits/refund.ts'
import { type Clocks, clocks } from '../domain/debits/timeouts.ts'
import { chargedOn, type Reference } from '../domain/ids.ts'
import type { Restore } from '../domain/operator/restore.ts'
import type { BatchStatus, Line } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, dayOf, HOUR_MS, startOf } from '../domain/time.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'
import { environment } from '../runtime.ts'
import { retainedFrom } from '../store/retention.ts'

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

/** A debit ends within ten minutes, unless an operator ends it. */
const ENDED_DAYS = 3

/** Returns the first of the days whose debits may end on a day. */
export const firstEnded = (date: Day): Day => dayAfter(date, -ENDED_DAYS)

/** Reports whether a debit was created on such a day, which its reference contains. */
export const isRecent = (reference: string, { date }: Pick<Window, 'date'>): boolean => {
  const day = chargedOn(reference)
  return day >= firstEnded(date).replaceAll('-', '') && day <= date.replaceAll('-', '')
}

/** Reports whether a debit may have expired before its refund, which ends later. */
export const mayHaveExpired = (reference: Reference, { now }: Pick<Window, 'now'>): boolean => {
  const from = retainedFrom(now)
  return from !== undefined && chargedOn(reference) < from.replaceAll('-', '')
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

/** Clocks differ. */
export const SKEW_MS = 60_000

/** Items of earlier versions lack some members. */
export const isSet = <T>(member: T | null | undefined): member is T =>
  member !== null && member !== undefined

/** A clock may be minutes off; a wrong time is days off. */
const ORDER_MS = HOUR_MS

/** Reports whether each known time is at or after the one before it. */
export const areInOrder = (times: readonly (Date | null | undefined)[]): boolean => {
  const known = times.filter(isSet).map((at) => at.getTime())
  return known.every((at, index) => at >= (known[index - 1] ?? at) - ORDER_MS)
}

/** After this time an operator must ask the bank about a payout or refund. */
const IN_PROGRESS_MS = 48 * HOUR_MS

export const isTooOld = (since: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - since.getTime() > IN_PROGRESS_MS

export const isLongAgo = (at: Date, { now }: Pick<Window, 'now'>): boolean =>
  now.getTime() - at.getTime() > RUNS_MS

/** Whether a batch in this status has a payout, which its bank has not rejected. */
export const HAS_PAYOUT: Record<BatchStatus, boolean> = {
  pending: false,
  processing: true,
  completed: true,
  failed: false,
}

/** A debit with its lines in the batches that it names, its refund and its provider's request. */
export type SettledRecord = {
  debit: Debit
  line: Line | undefined
  adjustment: Line | undefined
  /** Read only for a reversed debit. */
  refund: Refund | undefined
  request: ReportException | undefined
}

/** A debit with all items that belong to it. */
export type DebitRecord = SettledRecord & {
  /** The debit that the provider's reference points to, and the hash of its request. */
  claim: { reference: Reference; request: string } | undefined
  /** By event number. */
  deliveries: readonly (Delivery | undefined)[]
}

export type Subscription = Pick<Webhook, 'events' | 'since' | 'subscribedAt'> | undefined

/** Returns the time of each event, never before the previous one: clocks differ. */
export const timesOf = ({ history }: Debit): number[] => {
  let latest = 0
  return history.map(({ at }) => {
    latest = Math.max(latest, at.getTime())
    return latest
  })
}

/** Returns the time of the first event of a type. */
export const timeOf = (debit: Debit, type: DebitEventName): Date | undefined => {
  const index = debit.history.findIndex((entry) => entry.type === type)
  return index < 0 ? undefined : new Date(timesOf(debit)[index] ?? 0)
}
