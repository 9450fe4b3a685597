import type * as seen from '../engine/observations.ts'
import type { OperatorCall } from './calls.ts'
import { foundAccounts, type Period, type SettingCall, settingCalls } from './setting-calls.ts'
import { MINUTE_MS, pesewasOf, SECOND_MS } from './time-and-money.ts'

/**
 * The settings over time, from the calls of operators. A call takes effect at an unknown time between
 * its first attempt and its reply, so two values can be possible at one time.
 */

/** A secret and the one that it replaced. Undefined: no reply has shown it. */
export type Secret = { current: string | undefined; previous?: string | undefined; until: number }

type Webhook = { url: string; events: readonly string[] | undefined; attemptsMax?: number }

/** By provider, by bank, by phone and bank, or by token. Each has its value in a usual run. */
const usual = {
  /** Of a provider. */
  name: undefined as string | undefined,
  account: undefined as seen.Account | undefined,
  feeSchedule: undefined as seen.FeeSchedule | undefined,
  dailyLimit: undefined as number | undefined,
  /** The published limit of a production stage. */
  chargesPerMinute: 1_000,
  /** Whether a provider or a token may call, or a bank can be charged. */
  isActive: true,
  webhook: undefined as Webhook | undefined,
  webhookSecret: undefined as Secret | undefined,
  requestSecret: undefined as Secret | undefined,
  connectorUrl: undefined as string | undefined,
  /** Whether charges of a bank that is down are refused. */
  whenDown: undefined as string | undefined,
  accountLookup: 'off',
  behaviour: undefined as string | undefined,
  payoutDays: 'all',
  /** The maximum of a debit at a bank, in pesewas. */
  maximum: undefined as number | undefined,
  /** Of a day. */
  isHoliday: false,
  connectorSecret: undefined as string | undefined,
  customer: undefined as string | undefined,
}
export type Values = typeof usual
type Name = keyof Values

/** `settled`: when its call had ended. */
type Possible = Period & { value: unknown; settled: number }

type Effect = (call: SettingCall, previous: Values) => Partial<Values>

const scheduleIn = (options: seen.Options): seen.FeeSchedule => {
  const { 'fee-minimum': minimum, 'fee-maximum': maximum } = options
  return {
    basisPoints: Number(options['fee-basis-points']),
    fixed: pesewasOf(options['fee-fixed']) ?? 0,
    ...(minimum === 'none' ? {} : { minimum: pesewasOf(minimum) ?? 0 }),
    ...(maximum === 'none' ? {} : { maximum: pesewasOf(maximum) ?? 0 }),
  }
}

const named: Effect = ({ options }) => {
  const { 'settlement-bank': bank, 'settlement-account': number } = options
  const { 'daily-limit': limit, 'per-minute': perMinute } = options
  const { 'when-down': whenDown, 'account-lookup': accountLookup } = options
  const { 'payout-days': payoutDays, maximum } = options
  const { 'connector-url': connectorUrl, 'connector-secret': connectorSecret } = options
  return {
    ...(options.name ? { name: options.name } : {}),
    ...(bank && number
      ? { account: { bank, number, name: options['settlement-name'] ?? '' } }
      : {}),
    ...(options['fee-basis-points'] ? { feeSchedule: scheduleIn(options) } : {}),
    ...(limit ? { dailyLimit: pesewasOf(limit) } : {}),
    ...(perMinute ? { chargesPerMinute: Number(perMinute) } : {}),
    ...(options['request-secret'] ? { requestSecret: undefined } : {}),
    ...(connectorUrl ? { connectorUrl } : {}),
    ...(whenDown ? { whenDown: whenDown === 'default' ? undefined : whenDown } : {}),
    ...(accountLookup ? { accountLookup } : {}),
    ...(payoutDays ? { payoutDays: payoutDays === 'default' ? 'all' : payoutDays } : {}),
    ...(maximum ? { maximum: pesewasOf(maximum) } : {}),
    ...(connectorSecret ? { connectorSecret } : {}),
  }
}

/** Returns a replaced secret; an earlier attempt may have replaced it as well. */
const rotated = (
  { options, until, isRepeated }: SettingCall,
  current: unknown,
  previous: Secret | undefined,
): Secret => ({
  current: current as string | undefined,
  previous: isRepeated ? undefined : previous?.current,
  until: previous ? until + Number(options['grace-seconds']) * SECOND_MS : 0,
})

const created: Effect = (call, previous) => ({ ...named(call, previous), isActive: true })

/** null: the simulated operators do not call it. */
const effects: Record<seen.SettingVerb, Effect | null> = {
  'provider create': created,
  'provider update': named,
  'provider disable': () => ({ isActive: false }),
  'provider enable': () => ({ isActive: true }),
  'provider rotate-request-secret': (call, { requestSecret }) => ({
    requestSecret: rotated(call, call.result.request_secret, requestSecret),
  }),
  'credential issue': () => ({ isActive: true }),
  'credential revoke': () => ({ isActive: false }),
  'limit set': named,
  'limit remove': () => ({ dailyLimit: undefined }),
  'bank create': created,
  'bank update': named,
  'bank disable': () => ({ isActive: false }),
  'bank enable': () => ({ isActive: true }),
  'bank behave': ({ options: { as } }) => ({ behaviour: as === 'normal' ? undefined : as }),
  'calendar add': () => ({ isHoliday: true }),
  'calendar remove': () => ({ isHoliday: false }),
  'calendar set': null,
  'connector set': named,
  'connector remove': () => ({ connectorUrl: undefined, connectorSecret: undefined }),
  'customer link': ({ options }) => ({ customer: options['account-number'] }),
  'customer unlink': () => ({ customer: undefined }),
  'customer import': ({ options }) => ({ customer: options['account-number'] }),
  'customer upload': () => ({}),
  'customer erase': null,
  'customer repeat-erasures': null,
  'webhook set': ({ options: { url = '', events, 'max-attempts': most }, result }, previous) => ({
    webhook: {
      url,
      events: events === 'none' ? undefined : events?.split(','),
      ...(most === 'none' ? {} : { attemptsMax: Number(most) }),
    },
    ...(previous.webhook
      ? {}
      : { webhookSecret: { current: (result.secret as string | null) ?? undefined, until: 0 } }),
  }),
  'webhook rotate-secret': (call, { webhookSecret }) => ({
    webhookSecret: rotated(call, call.result.secret, webhookSecret),
  }),
  'webhook remove': () => ({ webhook: undefined, webhookSecret: undefined }),
  'webhook enable': () => ({}),
  'webhook ping': null,
}

export const settingVerbs = (Object.keys(effects) as seen.SettingVerb[]).filter(
  (verb) => effects[verb],
)

const ALWAYS = { from: -Infinity, until: Infinity, settled: -Infinity }

/** Longer than any function of an operator runs. */
const LONGEST_CALL_MS = 15 * MINUTE_MS

type Initial = [subject: string, values: Partial<Values>]

const initialValues = (setup: seen.RunSetup): Initial[] => {
  const absent = Object.entries(setup.absent).flat()
  const present: Initial[] = [
    ...setup.providers.map(({ id, webhook, requestSecret, ...one }): Initial => {
      const { secret: current, ...settings } = webhook ?? { secret: '' }
      const hook = webhook && { webhook: settings as Webhook, webhookSecret: { current, until: 0 } }
      const signing = requestSecret && { requestSecret: { current: requestSecret, until: 0 } }
      const { account, feeSchedule, dailyLimit } = one
      return [id, { name: id, account, feeSchedule, dailyLimit, ...hook, ...signing }]
    }),
    ...Object.entries(setup.connections),
    ...setup.lookups.map((bank): Initial => [bank, { accountLookup: 'on' }]),
    ...setup.workingBanks.map((bank): Initial => [bank, { payoutDays: 'working' }]),
    ...setup.banks.flatMap((bank) =>
      Object.entries(setup.customerAccounts).map(
        ([phone, customer]): Initial => [`${phone} ${bank}`, { customer }],
      ),
    ),
  ]
  return [
    ...present.filter(([subject]) => !absent.includes(subject.split(' ').at(-1) ?? '')),
    ...absent.map((subject): Initial => [subject, { isActive: false }]),
  ]
}

export const timelineOf = (
  { setup, changes }: Pick<seen.Observations, 'setup' | 'changes'>,
  operatorCalls: readonly OperatorCall[],
) => {
  const possibleOf = new Map<string, Possible[]>()
  const possible = (name: Name, subject: string): Possible[] =>
    possibleOf.get(`${subject} ${name}`) ?? [{ value: usual[name], ...ALWAYS }]
  for (const [subject, values] of initialValues(setup)) {
    for (const [name, value] of Object.entries(values))
      possibleOf.set(`${subject} ${name}`, [{ value, ...ALWAYS }])
  }
  const calls = [
    ...settingCalls(operatorCalls, (verb) => verb in effects, changes),
    ...foundAccounts(changes),
  ].toSorted((one, other) => one.from - other.from)
  const names = Object.keys(usual) as Name[]
  for (const call of calls) {
    const { subject, from, until } = call
    const last = (name: Name) => [name, possible(name, subject).at(-1)?.value] as const
    const previous = Object.fromEntries(names.map(last)) as Values
    for (const [name, value] of Object.entries(effects[call.verb]?.(call, previous) ?? {})) {
      const earlier = possible(name as Name, subject)
      // A call that had not ended may take effect after this one.
      for (const one of earlier.filter(({ settled }) => settled <= from))
        one.until = Math.min(one.until, until)
      const settled = Math.min(until, from + LONGEST_CALL_MS)
      const next = { value, from, until: Infinity, settled }
      // An earlier attempt of a rotation may have stored a secret that no reply has shown.
      const hidden = { value: { current: undefined, until }, from, until, settled: until }
      const isHidden = call.isRepeated && / rotate-/.test(call.verb)
      possibleOf.set(`${subject} ${name}`, [...earlier, ...(isHidden ? [hidden] : []), next])
    }
  }
  const during = <K extends Name>(name: K, subject: string, from: number, until: number) =>
    possible(name, subject)
      .filter((one) => one.from <= until && one.until >= from)
      .map(({ value }) => value as Values[K])
  return {
    calls,
    /** Returns the values that a setting may have had in a period. */
    during,
    /** Returns the values that a function may have used in a period; it may cache them. */
    recent: <K extends Name>(name: K, subject: string, from: number, until: number) =>
      during(name, subject, from - setup.staleMs, until),
  }
}
