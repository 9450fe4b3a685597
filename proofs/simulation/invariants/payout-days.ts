import type { ObservationIndex } from './observation-index.ts'
import type { RawBatch } from './raw-items.ts'
import { DAY_MS, dayOf, startOf } from './time-and-money.ts'

/** The days on which banks pay, from the settings that they may have had. */

export type Period = readonly [from: number, until: number]

/** What may have been true in a period: settings change at an unknown time of a call. */
export const freedomOf = (
  { timeline }: ObservationIndex,
  bank: string | undefined,
  day: string,
  period: Period,
): { must: boolean; may: boolean } => {
  const days = bank === undefined ? ['all'] : timeline.during('payoutDays', bank, ...period)
  const isWeekend = [0, 6].includes(new Date(startOf(day)).getUTCDay())
  const holidays = isWeekend ? [true] : timeline.during('isHoliday', day, ...period)
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
  period: Period,
): boolean =>
  index.timeline
    .during('account', provider, ...period)
    .some((account) => days.some((day) => freedomOf(index, account?.bank, day, period).may))

const DAYS_MAX = 40

/** Returns the days that a batch may name: a day that may be free is one of them, and so is the next. */
export const daysFrom = (
  index: ObservationIndex,
  bank: string | undefined,
  date: string,
  period: Period,
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

/** Returns the days on which a sealed batch may have been due in a period: holidays can be declared later. */
export const daysOf = (
  index: ObservationIndex,
  { provider, payOn }: Pick<RawBatch, 'provider' | 'payOn'>,
  period: Period,
): string[] => {
  const before = dayOf(Date.parse(String(payOn)) - DAY_MS)
  const accounts = index.timeline.during('account', provider, ...period)
  return [...new Set(accounts.flatMap((to) => daysFrom(index, to?.bank, before, period)))]
}
