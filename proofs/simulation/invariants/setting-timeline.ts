import type { Account, FeeSchedule, RunSetup } from '../engine/observations.ts'
import type { OperatorCall } from './calls.ts'
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

/** `until` is infinite without a reply. */
type Period = { from: number; until: number }

type Possible<T> = Period & { value: T }

/** A change of settings, and the period in which it took effect. */
type SettingCall = Period & { provider: string; options: Record<string, string> }

/** The published limit of a production stage. */
const CHARGES_PER_MINUTE = 1_000

/** Groups the attempts of each call: a repeat sends the same object. */
const attemptsOf = (calls: readonly OperatorCall[]): OperatorCall[][] => [
  ...Map.groupBy(calls, ({ call }) => call.sent).values(),
]

/** Returns the period of a call's effect; undefined if it was refused. */
const periodOf = (attempts: readonly OperatorCall[]): Period | undefined => {
  const [first, last] = [attempts[0]?.call, attempts.at(-1)?.call]
  if (!first || (attempts.length === 1 && last?.reply?.status === 400)) return undefined
  return { from: first.at, until: last?.reply?.at ?? Number.POSITIVE_INFINITY }
}

const settingCalls = (calls: readonly OperatorCall[]): SettingCall[] => {
  const grants = attemptsOf(
    calls.filter(({ noun, verb }) => noun === 'approval' && verb === 'grant'),
  )
  const changes = calls.filter(
    ({ noun, approval }) => /^(?:provider|limit)$/.test(noun) && approval === undefined,
  )
  return attemptsOf(changes)
    .flatMap((attempts) => {
      const { provider = '', ...options } = attempts[0]?.options ?? {}
      const id = attempts.find(({ requested }) => requested !== undefined)?.requested
      const effective =
        id === undefined ? [attempts] : grants.filter(([first]) => first?.options.id === id)
      const known = effective.map(periodOf).filter((period) => period !== undefined)
      if (known.length === 0) return []
      const from = Math.min(...known.map((period) => period.from))
      const until = Math.max(...known.map((period) => period.until))
      return [{ provider, options, from, until }]
    })
    .toSorted((one, other) => one.from - other.from)
}

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

const ALWAYS = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }

export const timelineOf = (
  { providers, staleMs }: RunSetup,
  operatorCalls: readonly OperatorCall[],
) => {
  const calls = settingCalls(operatorCalls)
  const possibleOf = new Map<string, Possible<unknown>[]>(
    providers.flatMap(({ id, account, feeSchedule, dailyLimit }) => {
      const values: Values = {
        account,
        feeSchedule,
        dailyLimit,
        chargesPerMinute: CHARGES_PER_MINUTE,
      }
      return Object.entries(values).map(([name, value]) => [
        `${id} ${name}`,
        [{ value, ...ALWAYS }],
      ])
    }),
  )
  for (const { provider, options, from, until } of calls) {
    for (const [name, value] of Object.entries(valueIn(options))) {
      const possible = possibleOf.get(`${provider} ${name}`) ?? []
      for (const earlier of possible) earlier.until = Math.min(earlier.until, until)
      possible.push({ value, from, until: Number.POSITIVE_INFINITY })
    }
  }
  const during = <K extends keyof Values>(name: K, provider: string, from: number, until: number) =>
    (possibleOf.get(`${provider} ${name}`) ?? [])
      .filter((possible) => possible.from <= until && possible.until >= from)
      .map(({ value }) => value as Values[K])
  return {
    calls,
    /** Returns the values that a provider may have had in a period. */
    during,
    /** Returns the values that a function may have used in a period; it may cache them. */
    recent: <K extends keyof Values>(name: K, provider: string, from: number, until: number) =>
      during(name, provider, from - staleMs, until),
  }
}
