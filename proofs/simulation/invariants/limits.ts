import type { Change } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall } from '../engine/observations.ts'
import { type ChargeAttempt, codeIn, membersOf } from './calls.ts'
import { expectations } from './lifecycle.ts'
import type { ObservationIndex } from './observation-index.ts'
import { kindOf, ownerIn, type RawDayTotal, type RawDebit } from './raw-items.ts'
import { type Check, type Checks, eachDebit } from './rules.ts'
import { dayOf, inGhs, MINUTE_MS, pesewasOf, startOf } from './time-and-money.ts'

/** A provider's daily total after each write, and its charges per minute. */

/** The sum of a day's debits and its counter from an instant; `since`: the start of the invocation that wrote it. */
type Standing = { at: number; since: number; transaction: number; sum: number; counter: number }

type DayHistory = { provider: string; sum: number; counter: number; standings: Standing[] }

type Days = Map<string, DayHistory>

const dayIn = (days: Days, provider: string, day: string): DayHistory => {
  const key = `${provider} ${day}`
  const history = days.get(key) ?? { provider, sum: 0, counter: 0, standings: [] }
  days.set(key, history)
  return history
}

/** A debit counts by its status. */
const add = (days: Days, debit: RawDebit | undefined, sign: 1 | -1): DayHistory[] => {
  if (!debit) return []
  const history = dayIn(days, debit.provider, dayOf(debit.history[0]?.at ?? 0))
  const isCounted = expectations[debit.status].isCounted && debit.countedOn !== undefined
  if (isCounted) history.sum += sign * debit.amount
  return [history]
}

/** Applies a write. Returns the days that it concerns. */
const play = (days: Days, { before, after }: Change): DayHistory[] => {
  const item = after ?? before
  const kind = item && kindOf(item)
  if (kind === 'debit')
    return [...add(days, before as RawDebit, -1), ...add(days, after as RawDebit, 1)]
  if (kind !== 'day total') return []
  const { pk, sk, amountTotal } = item as RawDayTotal
  const history = dayIn(days, ownerIn(pk), ownerIn(sk))
  history.counter = after ? amountTotal : 0
  return [history]
}

const replay = ({ observations: { changes }, startOf }: ObservationIndex): Days => {
  const days: Days = new Map()
  const touched = new Set<DayHistory>()
  for (const [place, change] of changes.entries()) {
    for (const history of play(days, change)) touched.add(history)
    const { at, transaction, by } = change
    // Readers see whole transactions only.
    if (touched.size === 0 || changes[place + 1]?.transaction === transaction) continue
    const since = startOf(by?.invocation, at)
    for (const { sum, counter, standings } of touched)
      standings.push({ at, since, transaction, sum, counter })
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

const dayTotalsMatchDebits: Check = (index, report) => {
  for (const { provider, standings } of daysIn(index).values()) {
    let previous = 0
    for (const { transaction, sum, counter, at, since } of standings) {
      const about = `${provider}, transaction ${transaction}`
      const limits = index.timeline.recent('dailyLimit', provider, since, at)
      const limit = Math.max(...limits.map((one) => one ?? Infinity))
      if (sum > previous && sum > limit) report(about, `${inGhs(sum)} exceeds ${inGhs(limit)}`)
      previous = sum
      if (counter !== sum) report(about, `the total is ${inGhs(counter)}, not ${inGhs(sum)}`)
    }
  }
}

/** A debit is counted if its provider has a limit, or had one until later on the same day. */
const limitedDebitsAreCounted = eachDebit((debit, { timeline, setup }) => {
  const { createdAt, changes } = debit
  const { provider, countedOn } = debit.item
  const { at = createdAt, since = createdAt } = changes[0] ?? {}
  const limits = timeline.recent('dailyLimit', provider, since, at)
  const day = startOf(dayOf(createdAt))
  const earlier = timeline.recent('dailyLimit', provider, day - setup.skew, at)
  const isRemoved = timeline.calls.some(
    (call) =>
      call.subject === provider &&
      call.verb === 'limit remove' &&
      call.from > day + setup.skew &&
      call.until < since - setup.staleMs &&
      !timeline.during('dailyLimit', provider, call.from - 1, call.from - 1).includes(undefined),
  )
  const isCounted = countedOn === dayOf(createdAt)
  const isRight = isCounted
    ? earlier.some((one) => one !== undefined)
    : countedOn === undefined && !isRemoved && limits.includes(undefined)
  return !isRight && `is counted on ${countedOn}`
})

/** Excludes a bank's own maximum, which has the same code. */
const isOverLimit = ({ call, reply }: ChargeAttempt): boolean =>
  call.reply?.status === 400 &&
  codeIn(reply) === 3005 &&
  JSON.stringify(reply.details).includes('daily')

const refusesOnlyAboveLimit: Check = (index, report) => {
  const days = daysIn(index)
  for (const attempts of index.charges.values()) {
    for (const { call, fields, provider, partnerReference } of attempts.filter(isOverLimit)) {
      const { at, reply } = call
      const until = reply?.at ?? at
      const limits = index.timeline.recent('dailyLimit', provider, at, until)
      const limit = Math.min(...limits.map((one) => one ?? Infinity))
      // The invocation's clock may have shown another day.
      const sums = [at - index.setup.skew, until + index.setup.skew].flatMap((time) => {
        const standings = days.get(`${provider} ${dayOf(time)}`)?.standings ?? []
        const within = standings.filter((one) => one.at >= at && one.at <= until)
        return [standings.findLast((one) => one.at < at), ...within].map((one) => one?.sum ?? 0)
      })
      const rest = limit - Math.max(0, ...sums)
      const amount = pesewasOf(fields.amount) ?? 0
      if (amount <= rest)
        report(`${provider} ${partnerReference}`, `${amount} was rejected, but ${rest} remained`)
    }
  }
}

const REJECTED = 429
/** Without a valid credential, or of a disabled provider. */
const UNCOUNTED = new Set([401, 403, REJECTED])

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS)

const isWithin = ({ at, reply }: ApiCall, skew: number): boolean =>
  reply !== undefined && minuteOf(at - skew) === minuteOf(reply.at + skew)

/** Reports whether a request was rejected because its address had too many refused ones. */
const isOfAddress = ({ reply }: ApiCall): boolean => codeIn(membersOf(reply?.body)) === 1453

/** The part of a limit that is always served; up to 5 % may lie unused in workers. */
const servedOf = (limit: number): number => limit - Math.floor(limit / 20)

/** A minute has at most the permitted charges, and only more than 95 % are rejected. */
const requestLimitsHold: Check = ({ observations, timeline, setup }, report) => {
  const { isHealthy, skew } = setup
  const charges = observations.calls.filter(({ name }) => name === 'charge')
  for (const [provider, all] of Map.groupBy(charges, ({ caller }) => caller?.id ?? '')) {
    const minutes = Map.groupBy(all, ({ at }) => minuteOf(at))
    for (const [minute, own] of minutes) {
      const from = minute * MINUTE_MS
      const until = from + MINUTE_MS + skew
      const limits = timeline.recent('chargesPerMinute', provider, from - skew, until)
      const statuses = own
        .filter((call) => isWithin(call, skew) && !isOfAddress(call))
        .map(({ reply }) => reply?.status ?? 500)
      const passed = statuses.filter((status) => status < 500 && !UNCOUNTED.has(status)).length
      const about = `${provider}, ${new Date(from).toISOString()}`
      if (passed > Math.max(...limits))
        report(about, `${passed} charges passed a limit of ${limits}`)
      const near = own.length + (minutes.get(minute - 1)?.length ?? 0)
      const mustServe = isHealthy && near <= servedOf(Math.min(...limits))
      if (mustServe && statuses.includes(REJECTED))
        report(about, `a charge was rejected, but ${near} are within ${limits}`)
    }
  }
}

/** The published limit of an address in a minute. */
const UNMATCHED_MAX = 60

const unmatchedRequestsAreLimited: Check = ({ observations }, report) => {
  const requests = observations.calls.filter(({ name }) => name === 'answer-unmatched')
  for (const [minute, own] of Map.groupBy(requests, ({ at }) => minuteOf(at))) {
    const passed = own.filter((call) => isWithin(call, 0) && call.reply?.status !== REJECTED)
    if (passed.length > UNMATCHED_MAX)
      report(`minute ${minute}`, `${passed.length} unmatched requests passed the general limit`)
  }
}

export const checks: Checks = {
  20: [dayTotalsMatchDebits, limitedDebitsAreCounted],
  21: [refusesOnlyAboveLimit],
  48: [requestLimitsHold, unmatchedRequestsAreLimited],
}
