import type { Account, ApiCall, FeeSchedule, Observations } from '../engine/observations.ts'
import { type Members, membersOf } from './reply.ts'
import { pesewasOf } from './time-and-money.ts'

/**
 * The settings of providers over time, from the calls of operators. A call takes effect at an unknown
 * time between its first attempt and its reply, so two values can be possible at one time.
 */

type Values = {
  account: Account
  feeSchedule: FeeSchedule | undefined
  dailyLimit: number | undefined
  chargesPerMinute: number
}

type Possible<T> = { value: T; from: number; until: number }

/** `until` is infinite without a reply. */
type Period = { from: number; until: number }

/** A change of settings, and the period in which it took effect. */
export type SettingCall = Period & { provider: string; options: Record<string, string> }

/** The published limit of a production stage. */
const CHARGES_PER_MINUTE = 1_000

const optionsOf = (sent: unknown) => membersOf(membersOf(sent).options) as Record<string, string>

const approvalIn = (reply: ApiCall['reply']): unknown =>
  membersOf(membersOf(membersOf(reply?.body).result).approval).id

/** Groups the attempts of each call: a repeat sends the same object. */
export const operatorCalls = (observations: Observations, name: string): ApiCall[][] => {
  const calls = observations.calls.filter((call) => call.name === name)
  return [...Map.groupBy(calls, ({ sent }) => sent).values()]
}

/** Returns the period of a call's effect; undefined if it was refused. */
const periodOf = (attempts: readonly ApiCall[]): Period | undefined => {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (!first || (attempts.length === 1 && last?.reply?.status === 400)) return undefined
  return { from: first.at, until: last?.reply?.at ?? Number.POSITIVE_INFINITY }
}

const settingCalls = (observations: Observations): SettingCall[] => {
  const grants = operatorCalls(observations, 'manage-approval').filter(
    ([first]) => membersOf(first?.sent).verb === 'grant',
  )
  return ['manage-provider', 'manage-limit']
    .flatMap((name) => operatorCalls(observations, name))
    .flatMap((attempts) => {
      const { options, approval } = (attempts[0]?.sent ?? {}) as Members
      if (approval !== undefined || options === undefined) return []
      const id = attempts.map(({ reply }) => approvalIn(reply)).find((one) => one !== undefined)
      const periods = (id === undefined ? [attempts] : grantsOf(grants, id)).map(periodOf)
      const known = periods.filter((period) => period !== undefined)
      if (known.length === 0) return []
      const from = Math.min(...known.map((period) => period.from))
      const until = Math.max(...known.map((period) => period.until))
      const { provider = '', ...others } = optionsOf(attempts[0]?.sent)
      return [{ provider, options: others, from, until }]
    })
    .toSorted((one, other) => one.from - other.from)
}

const grantsOf = (grants: ApiCall[][], id: unknown): ApiCall[][] =>
  grants.filter(([first]) => optionsOf(first?.sent).id === id)

const scheduleIn = (options: Record<string, string>): FeeSchedule => {
  const { 'fee-minimum': minimum, 'fee-maximum': maximum } = options
  return {
    basisPoints: Number(options['fee-basis-points']),
    fixed: pesewasOf(options['fee-fixed']) ?? 0,
    ...(minimum === 'none' ? {} : { minimum: pesewasOf(minimum) ?? 0 }),
    ...(maximum === 'none' ? {} : { maximum: pesewasOf(maximum) ?? 0 }),
  }
}

const valueIn = (options: Record<string, string>): Partial<Values> => {
  const { 'settlement-bank': bank, 'settlement-account': number } = options
  const { 'daily-limit': limit, 'per-minute': perMinute } = options
  if (bank && number) return { account: { bank, number, name: options['settlement-name'] ?? '' } }
  if (options['fee-basis-points']) return { feeSchedule: scheduleIn(options) }
  if (limit) return { dailyLimit: pesewasOf(limit) }
  return perMinute ? { chargesPerMinute: Number(perMinute) } : {}
}

type Timeline = { [K in keyof Values]: Possible<Values[K]>[] }

const ALWAYS = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }

export type SettingTimeline = {
  calls: readonly SettingCall[]
  /** Returns the values that a provider may have had in a period. */
  during: <K extends keyof Values>(
    name: K,
    provider: string,
    from: number,
    until: number,
  ) => Values[K][]
}

const timelines = new WeakMap<Observations, SettingTimeline>()

export const timelineOf = (observations: Observations): SettingTimeline => {
  const known = timelines.get(observations)
  if (known) return known
  const calls = settingCalls(observations)
  const byProvider = new Map<string, Timeline>(
    observations.setup.providers.map(({ id, account, feeSchedule, dailyLimit }) => [
      id,
      {
        account: [{ value: account, ...ALWAYS }],
        feeSchedule: [{ value: feeSchedule, ...ALWAYS }],
        dailyLimit: [{ value: dailyLimit, ...ALWAYS }],
        chargesPerMinute: [{ value: CHARGES_PER_MINUTE, ...ALWAYS }],
      },
    ]),
  )
  for (const { provider, options, from, until } of calls) {
    const timeline = byProvider.get(provider)
    for (const [name, value] of Object.entries(valueIn(options))) {
      const possible = timeline?.[name as keyof Values] as Possible<unknown>[] | undefined
      for (const earlier of possible ?? []) earlier.until = Math.min(earlier.until, until)
      possible?.push({ value, from, until: Number.POSITIVE_INFINITY })
    }
  }
  const timeline: SettingTimeline = {
    calls,
    during: (name, provider, from, until) =>
      (byProvider.get(provider)?.[name] ?? [])
        .filter((possible) => possible.from <= until && possible.until >= from)
        .map(({ value }) => value) as Values[typeof name][],
  }
  timelines.set(observations, timeline)
  return timeline
}
