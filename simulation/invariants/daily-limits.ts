import type { Change } from '../../aws/table/change.ts'
import type { Observations } from '../engine/observations.ts'
import type { ChargeAttempt } from './charge-histories.ts'
import type { Check, Reporter } from './invariant.ts'
import { kindOf, ownerIn, type RawDayTotal, type RawDebit } from './raw-items.ts'
import { codeIn } from './reply.ts'
import { timelineOf } from './setting-timeline.ts'
import { dayOf, inGhs } from './time-and-money.ts'

/** 20, 21: a provider's daily total after each write. */

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

const bookOf = (days: Days, provider: string, day: string): DayHistory => {
  const key = dayKey(provider, day)
  const known = days.get(key)
  if (known) return known
  const history: DayHistory = { provider, sum: 0, counter: 0, standings: [] }
  days.set(key, history)
  return history
}

/** A failed debit no longer counts. */
const add = (days: Days, debit: RawDebit | undefined, sign: 1 | -1): DayHistory | undefined => {
  if (!debit) return undefined
  const history = bookOf(days, debit.provider, dayOf(debit.history[0]?.at ?? 0))
  if (debit.status !== 'failed') history.sum += sign * debit.amount
  return history
}

const play = (days: Days, { before, after }: Change): (DayHistory | undefined)[] => {
  const item = after ?? before
  switch (item && kindOf(item)) {
    case 'debit':
      return [add(days, before as RawDebit, -1), add(days, after as RawDebit, 1)]
    case 'day total': {
      const { pk, sk, amountTotal } = item as RawDayTotal
      const history = bookOf(days, ownerIn(pk), ownerIn(sk))
      history.counter = after ? amountTotal : 0
      return [history]
    }
    default:
      return []
  }
}

const replay = ({ changes, invocations }: Observations): Days => {
  const days: Days = new Map()
  let touched = new Set<DayHistory>()
  changes.forEach((change, place) => {
    for (const history of play(days, change)) if (history) touched.add(history)
    const { at, transaction, by } = change
    const startedAt = invocations.get(by?.invocation ?? 0)?.startedAt ?? at
    // Readers see whole transactions only.
    if (touched.size === 0 || changes[place + 1]?.transaction === transaction) return
    for (const { sum, counter, standings } of touched) {
      standings.push({ at, startedAt, transaction, sum, counter })
    }
    touched = new Set()
  })
  return days
}

const replayed = new WeakMap<Observations, Days>()

/** Computed once for both invariants. */
const daysIn = (observations: Observations): Days => {
  const days = replayed.get(observations) ?? replay(observations)
  replayed.set(observations, days)
  return days
}

/** 20: after every write, the counter equals the sum of unfailed debits, within the limit. */
export const dayTotalsMatchDebits: Check = (
  { observations, providers, debits, dayTotals },
  report,
) => {
  const days = daysIn(observations)
  const timeline = timelineOf(observations)
  for (const { provider, standings } of days.values()) {
    if (providers.get(provider)?.dailyLimit === undefined) continue
    let previous = 0
    for (const { transaction, sum, counter, at, startedAt } of standings) {
      const about = `${provider}, transaction ${transaction}`
      const limits = timeline.during('dailyLimit', provider, startedAt, at)
      const limit = Math.max(...limits.map((one) => one ?? 0))
      if (sum > previous && sum > limit) report(about, `${inGhs(sum)} exceeds ${inGhs(limit)}`)
      previous = sum
      if (counter !== sum) {
        report(about, `the total is ${inGhs(counter)}, its debits ${inGhs(sum)}`)
      }
    }
  }
  for (const { pk, sk, amountTotal } of dayTotals) {
    const sum = days.get(dayKey(ownerIn(pk), ownerIn(sk)))?.sum ?? 0
    if (sum !== amountTotal)
      report(`${pk} ${sk}`, `is ${amountTotal}, but the debits sum to ${sum}`)
  }
  for (const [reference, { item, createdAt }] of debits) {
    const isLimited = providers.get(item.provider)?.dailyLimit !== undefined
    const day = isLimited ? dayOf(createdAt) : undefined
    if (item.countedOn !== day) report(reference, `is counted on ${item.countedOn}, not ${day}`)
  }
}

/** 21: a charge rejected by the limit did not fit at any time of its call. */
export const refusesOnlyAboveLimit: Check = (index, report) => {
  const days = daysIn(index.observations)
  for (const { provider, tries } of index.charges.values()) {
    for (const one of tries) {
      const { call, request } = one
      if (!isOverLimit(one)) continue
      const until = call.reply?.at ?? call.at
      const limits = timelineOf(index.observations).during('dailyLimit', provider, call.at, until)
      const limit = limits.reduce(least, Number.POSITIVE_INFINITY)
      const about = `${provider} ${request.partnerReference}`
      // The invocation's clock may have shown another day.
      const { skew } = index.observations.setup
      const { at, reply } = call
      const most = Math.max(
        ...[at - skew, (reply?.at ?? at) + skew].map((time) => {
          const standings = days.get(dayKey(provider, dayOf(time)))?.standings ?? []
          return mostWithin(standings, at, reply?.at ?? at)
        }),
      )
      checkRefused({ most, amount: request.amount ?? 0, limit, about }, report)
    }
  }
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other)

/** Excludes a bank's own maximum, which has the same code. */
const isOverLimit = ({ call, reply }: ChargeAttempt): boolean =>
  call.reply?.status === 400 &&
  codeIn(reply) === 3005 &&
  JSON.stringify(reply.details).includes('daily')

type Refused = { most: number; amount: number; limit: number | undefined; about: string }

const checkRefused = ({ most, amount, limit, about }: Refused, report: Reporter): void => {
  if (limit === undefined) {
    report(about, 'was rejected by a limit that does not exist')
    return
  }
  if (most + amount <= limit) {
    report(about, `${inGhs(amount)} was rejected, but ${inGhs(limit - most)} remained`)
  }
}

/** Returns the largest sum in a period. */
const mostWithin = (standings: readonly Standing[], from: number, until: number): number => {
  let most = 0
  let before = 0
  for (const { at, sum } of standings) {
    if (at > until) break
    if (at >= from) most = Math.max(most, sum)
    else before = sum
  }
  return Math.max(most, before)
}
