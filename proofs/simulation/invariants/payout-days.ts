import type { Check, ObservationIndex } from './observation-index.ts'
import { DAY_MS, dayOf, startOf } from './time-and-money.ts'

/** 67: a payout begins on a day on which its bank pays; its batch names the first such day. */

const WEEKEND = [0, 6]

/** What may have been true in a period: settings change at an unknown time of a call. */
type Freedom = { must: boolean; may: boolean }

const freedomOf = (
  { timeline }: ObservationIndex,
  bank: string | undefined,
  day: string,
  [from, until]: readonly [number, number],
): Freedom => {
  const days = bank === undefined ? ['all'] : timeline.during('payoutDays', bank, from, until)
  const isWeekend = WEEKEND.includes(new Date(startOf(day)).getUTCDay())
  const holidays = isWeekend ? [true] : timeline.during('isHoliday', day, from, until)
  return {
    must: days.every((one) => one === 'working') && holidays.every(Boolean),
    may: days.includes('working') && holidays.some(Boolean),
  }
}

/** Reports whether a payout to a provider may have to wait for its bank on one of these days. */
export const mayWait = (
  index: ObservationIndex,
  provider: string,
  days: readonly string[],
  period: readonly [number, number],
): boolean =>
  index.timeline
    .during('account', provider, ...period)
    .some((account) => days.some((day) => freedomOf(index, account?.bank, day, period).may))

const DAYS_MAX = 40

/** Returns the days that a batch may name: a day that may be free is one of them, and so is the next. */
const daysFrom = (
  index: ObservationIndex,
  bank: string | undefined,
  date: string,
  period: readonly [number, number],
): string[] => {
  const days: string[] = []
  for (let n = 1; n < DAYS_MAX; n += 1) {
    const day = dayOf(startOf(date) + n * DAY_MS)
    const { must, may } = freedomOf(index, bank, day, period)
    if (!must) days.push(day)
    if (!may) break
  }
  return days
}

export const batchesNameTheirDay: Check = (index, report) => {
  for (const { item, changes } of index.batches.values()) {
    for (const { before, after, at, by } of changes) {
      if (!after?.sealedAt || before?.sealedAt) continue
      const period = [index.startOf(by?.invocation, at), at] as const
      const accounts = index.timeline.during('account', item.provider, ...period)
      const days = accounts.flatMap(({ bank = undefined } = {} as never) =>
        daysFrom(index, bank, item.date, period),
      )
      if (days.includes(String(after.payOn))) continue
      report(item.id, `is payable on ${after.payOn}, not ${[...new Set(days)].join(' or ')}`)
    }
  }
}

export const payoutsBeginOnTheirDays: Check = (index, report) => {
  const { skew } = index.observations.setup
  for (const { item, changes } of index.batches.values()) {
    for (const { before, after, at, by } of changes) {
      if (before?.status !== 'pending' || after?.status !== 'processing') continue
      const from = index.startOf(by?.invocation, at)
      const days = [...new Set([from - skew, at + skew].map(dayOf))]
      const isFree = days.every((day) => freedomOf(index, after.paidTo?.bank, day, [from, at]).must)
      if (isFree) report(item.id, `is paid on ${days}, a day without payouts`)
    }
  }
}
