import type { Change, Observations } from '../engine/observations.ts'
import type { ChargeAttempt } from './charge-histories.ts'
import type { Check, Reporter } from './invariant.ts'
import { kindOf, ownerIn, type RawDayTotal, type RawDebit } from './raw-items.ts'
import { codeIn } from './reply.ts'
import { dayOf, inGhs } from './time-and-money.ts'

/** 20, 21: what a provider's debits of one day come to, after each write. */

/** What the debits of one provider and day came to, from an instant on, and what was counted. */
type Standing = { at: number; transaction: number; sum: number; counter: number }

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

/** A failed debit has given back what it had of its day. */
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

const replay = (changes: readonly Change[]): Days => {
  const days: Days = new Map()
  let touched = new Set<DayHistory>()
  changes.forEach((change, place) => {
    for (const history of play(days, change)) if (history) touched.add(history)
    const { at, transaction } = change
    // Only a whole transaction is received by others.
    if (touched.size === 0 || changes[place + 1]?.transaction === transaction) return
    for (const { sum, counter, standings } of touched) {
      standings.push({ at, transaction, sum, counter })
    }
    touched = new Set()
  })
  return days
}

const replayed = new WeakMap<Observations, Days>()

/** Played once for both. */
const daysIn = (observations: Observations): Days => {
  const days = replayed.get(observations) ?? replay(observations.changes)
  replayed.set(observations, days)
  return days
}

/** 20: after every write the counter is the sum of what has not failed, and within the limit. */
export const dayTotalsMatchDebits: Check = (
  { observations, providers, debits, dayTotals },
  report,
) => {
  const days = daysIn(observations)
  for (const { provider, standings } of days.values()) {
    const limit = providers.get(provider)?.dailyLimit
    if (limit === undefined) continue
    for (const { transaction, sum, counter } of standings) {
      const about = `${provider}, transaction ${transaction}`
      if (sum > limit) report(about, `${inGhs(sum)} are over ${inGhs(limit)}`)
      if (counter !== sum) {
        report(about, `the total is ${inGhs(counter)}, its debits ${inGhs(sum)}`)
      }
    }
  }
  for (const { pk, sk, amountTotal } of dayTotals) {
    const sum = days.get(dayKey(ownerIn(pk), ownerIn(sk)))?.sum ?? 0
    if (sum !== amountTotal) report(`${pk} ${sk}`, `says ${amountTotal}, and ${sum} are there`)
  }
  for (const [reference, { item, createdAt }] of debits) {
    const isLimited = providers.get(item.provider)?.dailyLimit !== undefined
    const day = isLimited ? dayOf(createdAt) : undefined
    if (item.countedOn !== day) report(reference, `is counted on ${item.countedOn}, not ${day}`)
  }
}

/** 21: who was refused for the limit did not fit at any time of the request. */
export const refusesOnlyAboveLimit: Check = (index, report) => {
  const days = daysIn(index.observations)
  for (const { provider, tries } of index.charges.values()) {
    const limit = index.providers.get(provider)?.dailyLimit
    for (const one of tries) {
      const { call, request } = one
      if (!isOverLimit(one)) continue
      const about = `${provider} ${request.partnerReference}`
      // As the clock of its worker said, it may have been another day.
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

/** Refused by the limit of the day; a bank's own maximum is refused by the same code. */
const isOverLimit = ({ call, told }: ChargeAttempt): boolean =>
  call.reply?.status === 400 &&
  codeIn(told) === 3005 &&
  JSON.stringify(told.details).includes('daily')

type Refused = { most: number; amount: number; limit: number | undefined; about: string }

const checkRefused = ({ most, amount, limit, about }: Refused, report: Reporter): void => {
  if (limit === undefined) {
    report(about, 'was refused for a limit that there is not')
    return
  }
  if (most + amount <= limit) {
    report(about, `${inGhs(amount)} were refused, and ${inGhs(limit - most)} were left`)
  }
}

/** The most that the debits of a day came to in a span of time. */
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
