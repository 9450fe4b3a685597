import type { ApiCall, Observations } from '../engine/observations.ts'
import type { Check } from './invariant.ts'
import { timelineOf } from './setting-timeline.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 48: a minute has at most the permitted charges, and only more are rejected. */

const REJECTED = 429

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)

/** Reports whether a call was handled within one minute by every clock. */
const isWithin = ({ at, reply }: ApiCall, { setup }: Observations): boolean => {
  const end = reply?.at
  return end !== undefined && minuteOf(at - setup.skew) === minuteOf(end + setup.skew)
}

export const requestLimitsHold: Check = ({ observations }, report) => {
  const charges = observations.calls.filter(({ name }) => name === 'charge')
  const timeline = timelineOf(observations)
  for (const [provider, own] of Map.groupBy(charges, ({ caller }) => caller?.id ?? '')) {
    const minutes = Map.groupBy(own, ({ at }) => minuteOf(at))
    for (const [minute, calls] of minutes) {
      const from = minute * MINUTE_MS - observations.setup.skew
      const until = (minute + 1) * MINUTE_MS + observations.setup.skew
      const limits = timeline.during('chargesPerMinute', provider, from, until)
      const within = calls.filter((call) => isWithin(call, observations))
      const passed = within.filter(
        ({ reply }) => reply && reply.status < 500 && reply.status !== REJECTED,
      )
      const about = `${provider}, ${new Date(minute * MINUTE_MS).toISOString()}`
      if (passed.length > Math.max(...limits)) {
        report(about, `${passed.length} charges passed a limit of ${limits}`)
      }
      const near = calls.length + (minutes.get(minute - 1)?.length ?? 0)
      const isRejected = within.some(({ reply }) => reply?.status === REJECTED)
      const { isHealthy } = observations.setup
      if (isHealthy && isRejected && near <= Math.min(...limits)) {
        report(about, `a charge was rejected, but ${near} are within ${limits}`)
      }
    }
  }
}
