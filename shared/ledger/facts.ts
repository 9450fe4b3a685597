import type { Debit } from '../domain/debits/debit.ts'
import { lifecycle } from '../domain/debits/lifecycle.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, type Line, withSums } from '../domain/settlement/batch.ts'
import { isWithin, type LedgerEntry } from '../domain/settlement/ledger-entry.ts'
import { startOf } from '../domain/time.ts'
import { groupsOf, mapConcurrent } from '../store/concurrent.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listProviders } from '../store/providers/providers.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf, listAdjustments } from '../store/settlement/lines.ts'
import type { Span } from '../store/table.ts'
import { unsettledPages } from '../store/work-index.ts'
import { casesSince } from './cases.ts'
import {
  type Case,
  caseEntries,
  completionEntry,
  completionOf,
  feeEntries,
  payoutEntries,
} from './entries.ts'

/** Clocks differ, so the time in the index may be earlier than in the history. */
const SKEW_MS = 60_000
/** References of one call of the index, in each of eight shards. */
const PAGE_SIZE = 200
const BATCH_SIZE = 100
const BATCHES_AT_ONCE = 16

/**
 * Derives the entries of a span of time from stored items, without fundings.
 * @param only a provider, whose account gets all its entries; entries of other accounts may be missing
 */
export async function* entriesWithin(span: Span, only?: ProviderId): AsyncGenerator<LedgerEntry> {
  const unsettled = new Set<Reference>()
  for (const provider of only ? [only] : await listProviders()) {
    for await (const entry of unsettledEntries(provider, span)) {
      unsettled.add(entry.source.id as Reference)
      yield entry
    }
    const times = await listBatchTimes(provider)
    for (const { id } of times.filter((batch) => mayHaveLines(batch, span))) {
      for await (const line of linesOf(id)) {
        const entry = unsettled.has(line.reference) ? undefined : lineEntry(line, provider, span)
        if (entry) yield entry
      }
    }
    for (const entry of await batchEntries(provider, span)) yield entry
  }
  const cases = await casesSince(span.from, span.before)
  yield* entriesOfCases(cases.values(), span)
  for (const { entry } of await reversedUnsettled(cases.values(), span)) {
    if (!unsettled.has(entry.source.id as Reference)) yield entry
  }
}

const completionWithin = (debit: Debit, span: Span) => {
  const completion = completionOf(debit)
  return completion && isWithin(completion.completedAt, span) ? completion : undefined
}

/** Yields pages of the debits in the list of unsettled ones. */
export async function* unsettledDebits(provider: ProviderId, span: Span): AsyncGenerator<Debit[]> {
  for await (const page of unsettledPages(provider, { ...span, pageSize: PAGE_SIZE })) {
    const debits = await mapConcurrent(
      groupsOf(page, BATCH_SIZE),
      BATCHES_AT_ONCE,
      async (some) => [...(await findDebits(some)).values()],
    )
    yield debits.flat()
  }
}

/**
 * Yields the completions of unsettled debits. Read them before lines, so that a debit settled in between
 * is not missed.
 */
export async function* unsettledEntries(
  provider: ProviderId,
  span: Span,
): AsyncGenerator<LedgerEntry> {
  const from = new Date(span.from.getTime() - SKEW_MS)
  for await (const debits of unsettledDebits(provider, { ...span, from })) {
    for (const debit of debits) {
      const completion = completionWithin(debit, span)
      const isUnsettled = lifecycle[debit.status].settlement === 'settle' && !debit.settledIn
      if (completion && isUnsettled) yield completionEntry(completion)
    }
  }
}

/** Returns the completion of a settled debit, if it was in the span. */
export const lineEntry = (line: Line, provider: ProviderId, span: Span) =>
  line.type === 'debit' && isWithin(line.completedAt, span)
    ? completionEntry({ ...line, provider })
    : undefined

/** Reports whether a batch may have lines completed in the span. Its lines are older than its day. */
export const mayHaveLines = ({ date, completedFrom }: BatchTimes, { from, before }: Span) =>
  startOf(date) > from && (completedFrom === null || startOf(completedFrom) < before)

export const findBatchesWithin = async (provider: ProviderId, span: Span): Promise<Batch[]> => {
  const isOfSpan = (at: Date | null): boolean => at !== null && isWithin(at, span)
  const times = await listBatchTimes(provider)
  return findBatches(
    times.flatMap(({ id, sealedAt, completedAt }) =>
      isOfSpan(sealedAt) || isOfSpan(completedAt) ? [id] : [],
    ),
  )
}

export const batchEntries = async (provider: ProviderId, span: Span): Promise<LedgerEntry[]> => {
  const batches = await findBatchesWithin(provider, span)
  const entries = await mapConcurrent(batches, BATCHES_AT_ONCE, async (stored) => {
    // A sealed batch may not have its totals yet.
    const batch = stored.totals ? stored : await withSums(stored, linesOf(stored.id))
    const hasAdjustments = batch.totals && batch.totals.count > batch.totals.debits
    const adjustments = hasAdjustments ? await listAdjustments(batch.id) : []
    return [...feeEntries(batch, adjustments), ...payoutEntries(batch)]
  })
  return entries.flat().filter(({ at }) => isWithin(at, span))
}

export const entriesOfCases = (cases: Iterable<Case>, span: Span): LedgerEntry[] =>
  [...cases].flatMap(caseEntries).filter(({ at }) => isWithin(at, span))

/** Returns the completions in the span that were reversed before settlement, with the time of it. */
export const reversedUnsettled = async (cases: Iterable<Case>, span: Span) => {
  const reversals = new Map(
    [...cases].flatMap(({ refund }) =>
      refund?.origin === 'reversal' ? [[refund.reference, refund.createdAt] as const] : [],
    ),
  )
  return [...(await findDebits([...reversals.keys()]))].flatMap(([reference, debit]) => {
    const completion = debit.settledIn ? undefined : completionWithin(debit, span)
    const reversedAt = reversals.get(reference)
    const { provider } = debit.facts
    return completion && reversedAt
      ? [{ entry: completionEntry(completion), provider, reversedAt }]
      : []
  })
}
