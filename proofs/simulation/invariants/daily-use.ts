import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { Observations } from '../engine/observations.ts'
import { DAY_MS, dayOf, MINUTE_MS } from './time-and-money.ts'

/**
 * The event of a metric, and the invocation that measures it; undefined: one of the relay. A possible event
 * explains a metric, but need not cause it.
 */
export type Cause = { about: string; by?: number; isPossible?: boolean }

type Uses = Record<string, number>
type IsAlarm = (today: Uses, earlier: readonly Uses[], setup: Observations['setup']) => boolean

const LEAST: Uses = { charges: 500, invalidAccounts: 20, unknownNumbers: 50 }
const MULTIPLE = 3

export const isUnusual: IsAlarm = (today, earlier) =>
  Object.entries(LEAST).some(([use, least]) => {
    const { [use]: count = 0 } = today
    return count >= least && earlier.every(({ [use]: other = 0 }) => count > MULTIPLE * other)
  })

export const areUnwanted: IsAlarm = (today, _, { unwantedPromptsLeast }) => {
  const { charges = 0, invalidAccounts = 0, refusedPrompts = 0, unwantedPrompts = 0 } = today
  const prompts = charges - invalidAccounts - refusedPrompts
  return unwantedPrompts >= unwantedPromptsLeast && 2 * unwantedPrompts > prompts
}

const CHECK_MS = 10 * MINUTE_MS
const COMPARED_MS = 28 * DAY_MS

const reachedIn = (item: Item | undefined): number =>
  Date.parse(String(item?.reached ?? item?.until ?? new Date(0).toISOString()))

/** Reports whether a sweep is the first one in its ten minutes, in which it checks the uses. */
const isCheck = ({ before, after }: Change): boolean =>
  after?.pk === 'SWEEP' &&
  after.sk === 'SWEEP' &&
  Math.floor(reachedIn(before) / CHECK_MS) < Math.floor(reachedIn(after) / CHECK_MS)

/** The longest run of the sweep. */
const SWEEP_MS = MINUTE_MS

const RINGING: readonly string[] = ['UnusualUse', 'UnwantedPrompts']

/** Returns the sweeps that check the uses, and those that rang and lost the write that says so. */
const checksIn = ({ changes, measurements, invocations }: Observations) => {
  const checks = changes.filter(isCheck).map(({ at, by, before }) => {
    const invocation = by?.invocation ?? 0
    const from = invocations.get(invocation)?.startedAt ?? at
    const isAlone = !changes.some((one) => one.after === before && one.at >= from)
    return { invocation, from, at, isAlone, isLost: false }
  })
  const known = new Set(checks.map(({ invocation }) => invocation))
  const ringing = measurements.flatMap(({ name, by = 0 }) => (RINGING.includes(name) ? [by] : []))
  const lost = [...new Set(ringing).difference(known)].map((invocation) => {
    const from = invocations.get(invocation)?.startedAt ?? 0
    return { invocation, from, at: from + SWEEP_MS, isAlone: false, isLost: true }
  })
  return [...checks, ...lost]
}

type Counted = { provider: string; day: string; at: number; uses: Uses }

/** Returns the uses of a provider before an instant, by day. */
const usesAt = (counted: readonly Counted[], before: number): Map<string, Uses> => {
  const days = new Map<string, Uses>()
  for (const { day, at, uses } of counted)
    if (at < before) days.set(day, { ...days.get(day), ...uses })
  return days
}

/** The sweeps that check the uses of a day while they ring an alarm. */
export const swept =
  (isAlarm: IsAlarm) =>
  (observations: Observations): Cause[] => {
    const { changes, strikes, setup } = observations
    const counted = changes.flatMap(({ after, at }): Counted[] => {
      const [, provider = ''] =
        /^(?:PROVIDER|WINDOW#lookup-customer-banks)#(.*)/.exec(String(after?.pk)) ?? []
      const [, day] = String(after?.sk).split('DAY#')
      return day && provider ? [{ provider, day, at, uses: after as unknown as Uses }] : []
    })
    const byProvider = [...Map.groupBy(counted, ({ provider }) => provider)]
    return checksIn(observations).flatMap(({ invocation, from, at, isAlone, isLost }) => {
      const today = dayOf(from)
      const isClear =
        isAlone &&
        today === dayOf(at + setup.skew) &&
        today === dayOf(from - setup.skew) &&
        !strikes.some((strike) => strike.by === 'sweep' && strike.at >= from && strike.at <= at)
      return byProvider.flatMap(([provider, own]) => {
        const alarms = [from, at].map((time) => {
          const days = [...usesAt(own, time)]
          const { [today]: current = {} } = Object.fromEntries(days)
          const first = dayOf(from - COMPARED_MS)
          const earlier = days.flatMap(([day, uses]) => (first <= day && day < today ? [uses] : []))
          return isAlarm(current, earlier, setup)
        })
        const isCertain = isClear && alarms.every(Boolean) && !(provider in setup.absent)
        const isPossible = (!isClear && !isLost) || alarms.some(Boolean)
        return isPossible ? [{ about: provider, by: invocation, isPossible: !isCertain }] : []
      })
    })
  }
