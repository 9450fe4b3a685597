import type { ProviderId } from '../domain/providers/provider.ts'
import {
  type Account,
  type Balances,
  isWithin,
  type LedgerEntry,
  post,
} from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { listFundings } from '../store/settlement/funding.ts'
import { findClosing } from '../store/settlement/ledger-days.ts'
import type { Span } from '../store/table.ts'
import { fundingEntries } from './entries.ts'
import { entriesWithin } from './facts.ts'

/** After this time no write of the day is in progress. */
const CLOSED_AFTER_MS = 3_600_000

/** Reports whether the balances of a day can be stored. */
export const isClosed = (day: Day, now: Date): boolean =>
  now.getTime() - startOf(dayAfter(day)).getTime() >= CLOSED_AFTER_MS

export const spanOf = (day: Day): Span => ({ from: startOf(day), before: startOf(dayAfter(day)) })

export type LedgerDay = Awaited<ReturnType<typeof openDay>>

/** Returns the ledger of a UTC day (docs/api.md#ledger). Stored balances contain no fundings. */
export const openDay = (day: Day) => openDays(day, day)

/**
 * @param to the last day, inclusive
 * @param only limits the read to the account of one provider
 */
export const openDays = async (from: Day, to: Day, only?: ProviderId) => {
  const [carried, fundings] = await Promise.all([carriedInto(from, only), listFundings()])
  const opening = new Map(carried)
  const span = { from: startOf(from), before: startOf(dayAfter(to)) }
  const entries = fundings.flatMap(fundingEntries)
  for (const entry of entries) if (entry.at < span.from) post(opening, entry)
  const funded = entries.filter(({ at }) => isWithin(at, span))
  return {
    opening,
    /** May be read once. */
    entries: entriesOf(span, funded, only),
  }
}

async function* entriesOf(
  span: Span,
  funded: readonly LedgerEntry[],
  only?: ProviderId,
): AsyncGenerator<LedgerEntry> {
  yield* funded
  yield* entriesWithin(span, only)
}

/** Returns the last stored balances before a day, without fundings. */
export const storedBefore = async (day: Day) => {
  const stored = await findClosing(dayAfter(day, -1))
  const entries = Object.entries(stored?.balances ?? {}) as [Account, number][]
  return { day: stored?.day, balances: new Map(entries) }
}

/** Returns the balances without fundings at the start of a day. */
export const carriedInto = async (day: Day, only?: ProviderId): Promise<Balances> => {
  const { day: stored, balances: carried } = await storedBefore(day)
  const from = stored ? startOf(dayAfter(stored)) : new Date(0)
  const before = startOf(day)
  if (from >= before) return carried
  for await (const entry of entriesWithin({ from, before }, only)) post(carried, entry)
  return carried
}
