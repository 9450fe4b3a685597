import type { Funding } from '../domain/funding.ts'
import { type Day, dayAfter, startOf } from '../domain/settlement.ts'
import { listFundings } from '../store/funding.ts'
import { findClosing, putClosing } from '../store/ledger-days.ts'
import { fundingEntry } from './entries.ts'
import { type Account, type Balances, type LedgerEntry, post, type Span } from './entry.ts'
import { entriesWithin } from './facts.ts'

/**
 * The ledger of one UTC day. Balances at the end of a day that is over are stored, so the next day
 * needs no history. They hold no fundings: an operator may record one for any earlier day.
 */

/** By then no write of the day is in progress. */
const CLOSED_AFTER_MS = 3_600_000

const isClosed = (day: Day, now: Date): boolean =>
  now.getTime() - startOf(dayAfter(day)).getTime() >= CLOSED_AFTER_MS

export const spanOf = (day: Day): Span => ({ from: startOf(day), before: startOf(dayAfter(day)) })

export type LedgerDay = {
  opening: Balances
  /** Read once, and to the end: then the closing balances are stored. */
  entries: AsyncGenerator<LedgerEntry>
}

/** Returns the opening balances of a day and its entries. */
export const openDay = async (day: Day, now: Date): Promise<LedgerDay> => {
  const [carried, fundings] = await Promise.all([carriedInto(day, now), listFundings()])
  const opening = new Map(carried)
  for (const one of fundings) if (one.date < day) post(opening, fundingEntry(one))
  return { opening, entries: entriesOf(day, { now, carried, fundings }) }
}

type Known = { now: Date; carried: Balances; fundings: readonly Funding[] }

async function* entriesOf(
  day: Day,
  { now, carried, fundings }: Known,
): AsyncGenerator<LedgerEntry> {
  for (const one of fundings) if (one.date === day) yield fundingEntry(one)
  const closing = new Map(carried)
  for await (const entry of entriesWithin(spanOf(day))) {
    post(closing, entry)
    yield entry
  }
  await store(day, closing, now)
}

const store = async (day: Day, closing: Balances, now: Date): Promise<void> => {
  if (isClosed(day, now)) await putClosing({ day, balances: Object.fromEntries(closing) })
}

/** Returns the balances without fundings at the beginning of a day. */
const carriedInto = async (day: Day, now: Date): Promise<Balances> => {
  const before = dayAfter(day, -1)
  const stored = await findClosing(before)
  const carried = new Map(Object.entries(stored?.balances ?? {}) as [Account, number][])
  if (stored?.day === before) return carried
  const from = stored ? startOf(dayAfter(stored.day)) : new Date(0)
  for await (const entry of entriesWithin({ from, before: startOf(day) })) post(carried, entry)
  await store(before, carried, now)
  return carried
}
