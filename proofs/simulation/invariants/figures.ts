import type { ObservationIndex } from './observation-index.ts'
import { daysOf } from './payout-days.ts'
import type { RawBatch } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { DAY_MS, dayOf, MINUTE_MS, startOf } from './time-and-money.ts'

/** 63: the figures of a night, which alarms compare, count what was stored at its time. */

type Night = {
  today: string
  batches: readonly (RawBatch & { dueOn: string | undefined })[]
  openExceptions: number
}

const netOf = ({ totals }: RawBatch): number => totals?.net ?? 0

const dueIn = ({ today, batches }: Night) =>
  batches.filter((one) => one.dueOn === dayOf(startOf(today) - DAY_MS) && netOf(one) >= 0)

const figures: Record<string, (night: Night) => number> = {
  PayoutsDue: (night) => dueIn(night).length,
  PayoutsLate: (night) =>
    dueIn(night).filter(
      ({ completedAt }) => !completedAt || Date.parse(completedAt) >= startOf(night.today),
    ).length,
  OverduePayouts: ({ today, batches }) =>
    batches.filter((one) => {
      const isPayable = one.status === 'pending' && one.reportedAt && netOf(one) >= 0
      const isFailed = one.status === 'failed' && Date.parse(one.failedAt ?? '') < startOf(today)
      return isPayable ? String(one.dueOn) < today : isFailed
    }).length,
  OpenExceptions: ({ openExceptions }) => openExceptions,
}

/** The time before and after the start of a job in which a change may be seen, or may not. */
const UNSURE_MS = [11 * MINUTE_MS, 3 * MINUTE_MS] as const

/** Returns what was stored at a time; undefined if it was changing. */
const nightAt = (at: number, index: ObservationIndex): Night | undefined => {
  const { batches, exceptionChanges } = index
  const [before, after] = UNSURE_MS
  const all = [...batches.values().flatMap(({ changes }) => changes), ...exceptionChanges]
  if (all.some((change) => change.at > at - before && change.at < at + after)) return undefined
  const stored = [...batches.values()].flatMap(
    ({ changes }) => changes.findLast((change) => change.at < at)?.after ?? [],
  )
  const due = stored.map((one) => {
    const days = one.payOn ? daysOf(index, one, [at - before, at + after]) : [undefined]
    return { ...one, dueOn: days[0], isSure: days.length === 1 }
  })
  if (!due.every(({ isSure }) => isSure)) return undefined
  const earlier = exceptionChanges.filter((change) => change.at < at)
  const last = new Map(earlier.map(({ after }) => [`${after?.pk} ${after?.sk}`, after]))
  return {
    today: dayOf(at),
    batches: due,
    openExceptions: [...last.values()].filter((one) => one && !one.resolvedAt).length,
  }
}

const figuresCount: Check = (index, report) => {
  const { measurements, invocations } = index.observations
  for (const { name, value, by } of measurements) {
    // A count of exceptions ends at a size.
    const isCut = name === 'OpenExceptions' && index.setup.hasSmallSizes
    const count = isCut ? undefined : figures[name]
    const { startedAt } = invocations.get(by ?? 0) ?? {}
    const night = count && startedAt !== undefined ? nightAt(startedAt, index) : undefined
    if (!count || !night) continue
    const expected = count(night)
    if (expected !== value) report(name, `is ${value} on ${night.today}, not ${expected}`)
  }
}

export const checks: Checks = { 63: [figuresCount] }
