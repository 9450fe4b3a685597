import type { Change, Witnessed } from '../engine/observations.ts'
import type { ChargeTry } from './charge-book.ts'
import type { Check, Complain } from './invariant.ts'
import { kindOf, ownerIn, type RawDayTotal, type RawDebit } from './raw-items.ts'
import { codeIn } from './reply.ts'
import { dayOf, inGhs } from './time-and-money.ts'

/** 20, 21: what a provider's debits of one day come to, after each write. */

/** What the debits of one provider and day came to, from an instant on, and what was counted. */
type Standing = { at: number; transaction: number; sum: number; counter: number }

type DayBook = { provider: string; sum: number; counter: number; standings: Standing[] }

type Days = Map<string, DayBook>

const dayKey = (provider: string, day: string): string => `${provider} ${day}`

const bookOf = (days: Days, provider: string, day: string): DayBook => {
  const key = dayKey(provider, day)
  const known = days.get(key)
  if (known) return known
  const book: DayBook = { provider, sum: 0, counter: 0, standings: [] }
  days.set(key, book)
  return book
}

/** A failed debit has given back what it had of its day. */
const add = (days: Days, debit: RawDebit | undefined, sign: 1 | -1): DayBook | undefined => {
  if (!debit) return undefined
  const book = bookOf(days, debit.provider, dayOf(debit.history[0]?.at ?? 0))
  if (debit.status !== 'failed') book.sum += sign * debit.amount
  return book
}

const play = (days: Days, { before, after }: Change): (DayBook | undefined)[] => {
  const item = after ?? before
  switch (item && kindOf(item)) {
    case 'debit':
      return [add(days, before as RawDebit, -1), add(days, after as RawDebit, 1)]
    case 'day total': {
      const { pk, sk, amountTotal } = item as RawDayTotal
      const book = bookOf(days, ownerIn(pk), ownerIn(sk))
      book.counter = after ? amountTotal : 0
      return [book]
    }
    default:
      return []
  }
}

const replay = (changes: readonly Change[]): Days => {
  const days: Days = new Map()
  let touched = new Set<DayBook>()
  changes.forEach((change, place) => {
    for (const book of play(days, change)) if (book) touched.add(book)
    const { at, transaction } = change
    // Only a whole transaction is seen by others.
    if (touched.size === 0 || changes[place + 1]?.transaction === transaction) return
    for (const { sum, counter, standings } of touched) {
      standings.push({ at, transaction, sum, counter })
    }
    touched = new Set()
  })
  return days
}

const replayed = new WeakMap<Witnessed, Days>()

/** Played once for both. */
const daysIn = (witnessed: Witnessed): Days => {
  const days = replayed.get(witnessed) ?? replay(witnessed.changes)
  replayed.set(witnessed, days)
  return days
}

/** 20: after every write the counter is the sum of what has not failed, and within the limit. */
export const keepsTheLimit: Check = ({ witnessed, providers, debits, dayTotals }, complain) => {
  const days = daysIn(witnessed)
  for (const { provider, standings } of days.values()) {
    const limit = providers.get(provider)?.dailyLimit
    if (limit === undefined) continue
    for (const { transaction, sum, counter } of standings) {
      const about = `${provider}, transaction ${transaction}`
      if (sum > limit) complain(about, `${inGhs(sum)} are over ${inGhs(limit)}`)
      if (counter !== sum) {
        complain(about, `the total is ${inGhs(counter)}, its debits ${inGhs(sum)}`)
      }
    }
  }
  for (const { pk, sk, amountTotal } of dayTotals) {
    const sum = days.get(dayKey(ownerIn(pk), ownerIn(sk)))?.sum ?? 0
    if (sum !== amountTotal) complain(`${pk} ${sk}`, `says ${amountTotal}, and ${sum} are there`)
  }
  for (const [reference, { item, createdAt }] of debits) {
    const isLimited = providers.get(item.provider)?.dailyLimit !== undefined
    const day = isLimited ? dayOf(createdAt) : undefined
    if (item.countedOn !== day) complain(reference, `is counted on ${item.countedOn}, not ${day}`)
  }
}

/** 21: who was refused for the limit did not fit at any time of the request. */
export const refusesNoneThatFits: Check = (books, complain) => {
  const days = daysIn(books.witnessed)
  for (const { provider, tries } of books.charges.values()) {
    const limit = books.providers.get(provider)?.dailyLimit
    for (const one of tries) {
      const { asked, request } = one
      if (!isOverLimit(one)) continue
      const about = `${provider} ${request.partnerReference}`
      // As the clock of its worker said, it may have been another day.
      const { skew } = books.witnessed.scene
      const { at, reply } = asked
      const most = Math.max(
        ...[at - skew, (reply?.at ?? at) + skew].map((time) => {
          const standings = days.get(dayKey(provider, dayOf(time)))?.standings ?? []
          return mostWithin(standings, at, reply?.at ?? at)
        }),
      )
      judgeRefused({ most, amount: request.amount ?? 0, limit, about }, complain)
    }
  }
}

/** Refused by the limit of the day; a bank's own maximum is refused by the same code. */
const isOverLimit = ({ asked, told }: ChargeTry): boolean =>
  asked.reply?.status === 400 &&
  codeIn(told) === 3005 &&
  JSON.stringify(told.details).includes('daily')

type Refused = { most: number; amount: number; limit: number | undefined; about: string }

const judgeRefused = ({ most, amount, limit, about }: Refused, complain: Complain): void => {
  if (limit === undefined) {
    complain(about, 'was refused for a limit that there is not')
    return
  }
  if (most + amount <= limit) {
    complain(about, `${inGhs(amount)} were refused, and ${inGhs(limit - most)} were left`)
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
