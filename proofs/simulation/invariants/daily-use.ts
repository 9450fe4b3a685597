import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { Observations } from '../engine/observations.ts'
import { DAY_MS, dayOf, MINUTE_MS, startOf } from './time-and-money.ts'

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

const reachedBy = (item: Item | undefined): number =>
  Date.parse(String(item?.reached ?? item?.until ?? '1970-01-01'))

const slotOf = (item: Item | undefined): number => Math.floor(reachedBy(item) / CHECK_MS)

/** Reports whether a sweep is the first one in its ten minutes, in which it checks the uses. */
const isCheck = ({ before, after }: Change): boolean =>
  after?.pk === 'SWEEP' && after.sk === 'SWEEP' && slotOf(before) < slotOf(after)

const SWEEP_MS = MINUTE_MS
/** A day ends with the failures of its debits. */
const LATE_MS = 20 * MINUTE_MS

const RINGING: readonly string[] = ['UnusualUse', 'UnwantedPrompts']

/** Returns the sweeps that check the uses, and those that rang and lost the write that says so. */
const checksIn = ({ changes, measurements, invocations }: Observations) => {
  const checks = changes.filter(isCheck).map(({ at, by, before }) => {
    const invocation = by?.invocation ?? 0
    const from = invocations.get(invocation)?.startedAt ?? at
    const isAlone = !changes.some((one) => one.after === before && one.at >= from)
    const since = before ? reachedBy(before) - LATE_MS : from
    return { invocation, from, at, since, isAlone, isLost: false }
  })
  const known = new Set(checks.map(({ invocation }) => invocation))
  const ringing = measurements.flatMap(({ name, by = 0 }) => (RINGING.includes(name) ? [by] : []))
  const lost = [...new Set(ringing).difference(known)].map((invocation) => {
    const from = invocations.get(invocation)?.startedAt ?? 0
    const since = from - LATE_MS - CHECK_MS
    return { invocation, from, at: from + SWEEP_MS, since, isAlone: false, isLost: true }
  })
  return [...checks, ...lost]
}

const COUNTERS = /^(?:PROVIDER|WINDOW#lookup-customer-banks)#(.*)/

const daysIn = (from: number, until: number): string[] => {
  const length = Math.floor(until / DAY_MS) - Math.floor(from / DAY_MS) + 1
  return Array.from({ length }, (_, n) => dayOf(from + n * DAY_MS))
}

/** The sweeps that check the uses of a day while they ring an alarm. */
export const swept =
  (isAlarm: IsAlarm) =>
  (observations: Observations): Cause[] => {
    const { changes, strikes, setup } = observations
    const counted = changes.flatMap(({ after, at }) => {
      const [, provider = ''] = COUNTERS.exec(String(after?.pk)) ?? []
      const [, day] = String(after?.sk).split('DAY#')
      return day && provider ? [{ provider, day, at, uses: after as unknown as Uses }] : []
    })
    const byProvider = [...Map.groupBy(counted, ({ provider }) => provider)]
    return checksIn(observations).flatMap(({ invocation, from, at, since, isAlone, isLost }) => {
      const isClear =
        isAlone &&
        [at + setup.skew, from - setup.skew].every((time) => dayOf(time) === dayOf(from)) &&
        !strikes.some((strike) => strike.by === 'sweep' && strike.at >= from && strike.at <= at)
      return byProvider.flatMap(([provider, own]) => {
        const ringsAt = (time: number, date: string): boolean => {
          // The last writes before an instant, member by member.
          const days = new Map<string, Uses>()
          for (const { day, at: writtenAt, uses } of own)
            if (writtenAt < time) days.set(day, { ...days.get(day), ...uses })
          const first = dayOf(startOf(date) - COMPARED_MS)
          const isEarlier = ([day]: [string, Uses]): boolean => first <= day && day < date
          const earlier = [...days].filter(isEarlier).map(([, uses]) => uses)
          return isAlarm(days.get(date) ?? {}, earlier, setup)
        }
        const alarms = daysIn(since, from).map((day) => [ringsAt(from, day), ringsAt(at, day)])
        const rings = alarms.some((both) => both.every(Boolean))
        const isCertain = isClear && rings && !(provider in setup.absent)
        const isPossible = (!isClear && !isLost) || alarms.flat().some(Boolean)
        return isPossible ? [{ about: provider, by: invocation, isPossible: !isCertain }] : []
      })
    })
  }
