import type { Change } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall, Observations } from '../engine/observations.ts'
import { type ChargeAttempt, codeIn } from './calls.ts'
import { expectations } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { kindOf, ownerIn, type RawDayTotal, type RawDebit } from './raw-items.ts'
import { dayOf, inGhs, MINUTE_MS, pesewasOf, startOf } from './time-and-money.ts'

/** 20, 21, 48: a provider's daily total after each write, and its charges per minute. */

/** The sum of a day's debits and its counter, from an instant. */
type Standing = {
  at: number
  /** The start of the invocation that wrote it. */
  startedAt: number
  transaction: number
  sum: number
  counter: number
}

type DayHistory = { provider: string; sum: number; counter: number; standings: Standing[] }

type Days = Map<string, DayHistory>

const dayKey = (provider: string, day: string): string => `${provider} ${day}`

const dayIn = (days: Days, provider: string, day: string): DayHistory => {
  const key = dayKey(provider, day)
  const history = days.get(key) ?? { provider, sum: 0, counter: 0, standings: [] }
  days.set(key, history)
  return history
}

/** A debit counts by its status. */
const add = (days: Days, debit: RawDebit | undefined, sign: 1 | -1): DayHistory | undefined => {
  if (!debit) return undefined
  const history = dayIn(days, debit.provider, dayOf(debit.history[0]?.at ?? 0))
  const isCounted = expectations[debit.status].isCounted && debit.countedOn !== undefined
  if (isCounted) history.sum += sign * debit.amount
  return history
}

const play = (days: Days, { before, after }: Change): (DayHistory | undefined)[] => {
  const item = after ?? before
  switch (item && kindOf(item)) {
    case 'debit':
      return [add(days, before as RawDebit, -1), add(days, after as RawDebit, 1)]
    case 'day total': {
      const { pk, sk, amountTotal } = item as RawDayTotal
      const history = dayIn(days, ownerIn(pk), ownerIn(sk))
      history.counter = after ? amountTotal : 0
      return [history]
    }
    default:
      return []
  }
}

const replay = ({ observations: { changes }, startOf }: ObservationIndex): Days => {
  const days: Days = new Map()
  const touched = new Set<DayHistory>()
  for (const [place, change] of changes.entries()) {
    for (const history of play(days, change)) if (history) touched.add(history)
    const { at, transaction, by } = change
    // Readers see whole transactions only.
    if (touched.size === 0 || changes[place + 1]?.transaction === transaction) continue
    const startedAt = startOf(by?.invocation, at)
    for (const { sum, counter, standings } of touched) {
      standings.push({ at, startedAt, transaction, sum, counter })
    }
    touched.clear()
  }
  return days
}

const replayed = new WeakMap<ObservationIndex, Days>()

/** Computed once for both invariants. */
const daysIn = (index: ObservationIndex): Days => {
  const days = replayed.get(index) ?? replay(index)
  replayed.set(index, days)
  return days
}

export const dayTotalsMatchDebits: Check = (index, report) => {
  const days = daysIn(index)
  for (const { provider, standings } of days.values()) {
    let previous = 0
    for (const { transaction, sum, counter, at, startedAt } of standings) {
      const about = `${provider}, transaction ${transaction}`
      const limits = index.timeline.recent('dailyLimit', provider, startedAt, at)
      const limit = Math.max(...limits.map((one) => one ?? Infinity))
      if (sum > previous && sum > limit) report(about, `${inGhs(sum)} exceeds ${inGhs(limit)}`)
      previous = sum
      if (counter !== sum) report(about, `the total is ${inGhs(counter)}, not ${inGhs(sum)}`)
    }
  }
  for (const [reference, history] of index.debits) {
    const { countedOn } = history.item
    const isCounted = countedOn === dayOf(history.createdAt)
    const mayBe = mayBeCounted(history, index)
    if ((countedOn !== undefined && !isCounted) || !mayBe.includes(isCounted)) {
      report(reference, `is counted on ${countedOn}`)
    }
  }
}

/** A debit is counted if its provider has a limit, or had one until later on the same day. */
const mayBeCounted = (
  { item: { provider }, createdAt, changes: [opened] }: DebitHistory,
  { timeline, startOf: started, observations: { setup } }: ObservationIndex,
): boolean[] => {
  const at = opened?.at ?? createdAt
  const from = started(opened?.by?.invocation, at)
  const limits = timeline.recent('dailyLimit', provider, from, at)
  const day = startOf(dayOf(createdAt))
  const earlier = timeline.recent('dailyLimit', provider, day - setup.skew, at)
  const isRemoved = timeline.calls.some(
    (call) =>
      call.subject === provider &&
      call.verb === 'limit remove' &&
      call.from > day + setup.skew &&
      call.until < from - setup.staleMs &&
      !timeline.during('dailyLimit', provider, call.from - 1, call.from - 1).includes(undefined),
  )
  const isLimited = isRemoved || !limits.includes(undefined)
  return [
    ...(isLimited ? [] : [false]),
    ...(earlier.every((one) => one === undefined) ? [] : [true]),
  ]
}

/** Excludes a bank's own maximum, which has the same code. */
const isOverLimit = ({ call, reply }: ChargeAttempt): boolean =>
  call.reply?.status === 400 &&
  codeIn(reply) === 3005 &&
  JSON.stringify(reply.details).includes('daily')

export const refusesOnlyAboveLimit: Check = (index, report) => {
  const days = daysIn(index)
  const { skew } = index.observations.setup
  for (const { provider, partnerReference, tries } of index.charges.values()) {
    for (const { call, fields } of tries.filter(isOverLimit)) {
      const { at, reply } = call
      const until = reply?.at ?? at
      const limits = index.timeline.recent('dailyLimit', provider, at, until)
      const limit = Math.min(...limits.map((one) => one ?? Infinity))
      // The invocation's clock may have shown another day.
      const sums = [at - skew, until + skew].map((time) => {
        const standings = days.get(dayKey(provider, dayOf(time)))?.standings ?? []
        return mostWithin(standings, at, until)
      })
      const rest = limit - Math.max(...sums)
      const amount = pesewasOf(fields.amount) ?? 0
      if (amount > rest) continue
      report(`${provider} ${partnerReference}`, `${amount} was rejected, but ${rest} remained`)
    }
  }
}

const mostWithin = (standings: readonly Standing[], from: number, until: number): number => {
  const before = standings.findLast(({ at }) => at < from)?.sum ?? 0
  const within = standings.filter(({ at }) => at >= from && at <= until)
  return Math.max(0, before, ...within.map(({ sum }) => sum))
}

const REJECTED = 429
/** Without a valid credential, or of a disabled provider. */
const UNCOUNTED = new Set([401, 403, REJECTED])

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)

const isWithin = ({ at, reply }: ApiCall, { setup }: Observations): boolean => {
  const end = reply?.at
  return end !== undefined && minuteOf(at - setup.skew) === minuteOf(end + setup.skew)
}

/** The part of a limit that is always served; up to 5 % may lie unused in workers. */
const servedOf = (limit: number): number => limit - Math.floor(limit / 20)

/** 48: a minute has at most the permitted charges, and only more than 95 % are rejected. */
export const requestLimitsHold: Check = ({ observations, timeline }, report) => {
  const { calls, setup } = observations
  const charges = calls.filter(({ name }) => name === 'charge')
  for (const [provider, all] of Map.groupBy(charges, ({ caller }) => caller?.id ?? '')) {
    const minutes = Map.groupBy(all, ({ at }) => minuteOf(at))
    for (const [minute, own] of minutes) {
      const from = minute * MINUTE_MS - setup.skew
      const until = (minute + 1) * MINUTE_MS + setup.skew
      const limits = timeline.recent('chargesPerMinute', provider, from, until)
      const within = own.filter((call) => isWithin(call, observations))
      const passed = within.filter(
        ({ reply }) => reply && reply.status < 500 && !UNCOUNTED.has(reply.status),
      )
      const about = `${provider}, ${new Date(minute * MINUTE_MS).toISOString()}`
      if (passed.length > Math.max(...limits)) {
        report(about, `${passed.length} charges passed a limit of ${limits}`)
      }
      const near = own.length + (minutes.get(minute - 1)?.length ?? 0)
      const isRejected = within.some(({ reply }) => reply?.status === REJECTED)
      if (setup.isHealthy && isRejected && near <= servedOf(Math.min(...limits))) {
        report(about, `a charge was rejected, but ${near} are within ${limits}`)
      }
    }
  }
}
