import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { withSums } from '../domain/settlement/batch.ts'
import { startOf } from '../domain/time.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listProviders } from '../store/providers/providers.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf, listAdjustments } from '../store/settlement/lines.ts'
import { unsettledPages } from '../store/work-index.ts'
import { casesSince } from './cases.ts'
import { caseEntries, completionEntry, completionOf, feeEntries, payoutEntries } from './entries.ts'
import { isWithin, type LedgerEntry, type Span } from './entry.ts'

/** Reads the facts of a span of time and returns their entries; fundings are read elsewhere. */

/** Clocks differ: an index has a time of its own where a history has been put in order. */
const SKEW_MS = 60_000
const PAGE_SIZE = 100

export async function* entriesWithin(span: Span): AsyncGenerator<LedgerEntry> {
  const waiting = new Set<Reference>()
  for (const provider of await listProviders()) {
    yield* completions(provider, span, waiting)
    for (const entry of await batchEntries(provider, span)) yield entry
  }
  const cases = [...(await casesSince(span.from)).values()]
  for (const entry of cases.flatMap(caseEntries)) if (isWithin(entry.at, span)) yield entry
  const reversed = cases.flatMap(({ refund }) =>
    refund?.origin === 'reversal' && !waiting.has(refund.reference) ? [refund.reference] : [],
  )
  yield* reversedUnsettled(reversed, span)
}

/**
 * Debits that wait for settlement first, then the lines of batches: a debit that is settled in
 * between is found twice and counted once.
 */
async function* completions(
  provider: ProviderId,
  span: Span,
  waiting: Set<Reference>,
): AsyncGenerator<LedgerEntry> {
  const from = new Date(span.from.getTime() - SKEW_MS)
  for await (const page of unsettledPages(provider, { ...span, from, pageSize: PAGE_SIZE })) {
    for (const debit of (await findDebits(page)).values()) {
      const completion = completionOf(debit)
      const waits = debit.status === 'completed' && !debit.settledIn
      if (!completion || !waits || !isWithin(completion.completedAt, span)) continue
      waiting.add(debit.facts.reference)
      yield completionEntry(completion)
    }
  }
  for (const { id } of (await listBatchTimes(provider)).filter((batch) => mayHave(batch, span))) {
    for await (const line of linesOf(id)) {
      if (line.type !== 'debit' || waiting.has(line.reference)) continue
      if (isWithin(line.completedAt, span)) yield completionEntry({ ...line, provider })
    }
  }
}

/** A batch has lines of the days before its own. */
export const mayHave = ({ date, completedFrom }: BatchTimes, { from, before }: Span): boolean =>
  startOf(date) > from && (completedFrom === null || startOf(completedFrom) < before)

const batchEntries = async (provider: ProviderId, span: Span): Promise<LedgerEntry[]> => {
  const isOfSpan = (at: Date | null): boolean => at !== null && isWithin(at, span)
  const times = await listBatchTimes(provider)
  const ids = times.filter(
    ({ sealedAt, completedAt }) => isOfSpan(sealedAt) || isOfSpan(completedAt),
  )
  const batches = await findBatches(ids.map(({ id }) => id))
  const entries = await Promise.all(
    batches.map(async (read) => {
      // No line is added once it is sealed, and its sums may follow later.
      const batch = read.totals ? read : await withSums(read, linesOf(read.id))
      const hasAdjustments = batch.totals && batch.totals.count > batch.totals.debits
      const adjustments = hasAdjustments ? await listAdjustments(batch.id) : []
      return [...feeEntries(batch, adjustments), ...payoutEntries(batch)]
    }),
  )
  return entries.flat().filter(({ at }) => isWithin(at, span))
}

/** Debits that were completed in the span and reversed before any run settled them. */
async function* reversedUnsettled(
  references: readonly Reference[],
  span: Span,
): AsyncGenerator<LedgerEntry> {
  for (let n = 0; n < references.length; n += PAGE_SIZE) {
    for (const debit of (await findDebits(references.slice(n, n + PAGE_SIZE))).values()) {
      const completion = completionOf(debit)
      if (!completion || debit.settledIn || !isWithin(completion.completedAt, span)) continue
      yield completionEntry(completion)
    }
  }
}
