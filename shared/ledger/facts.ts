import type { Debit } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, withSums } from '../domain/settlement/batch.ts'
import { startOf } from '../domain/time.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listProviders } from '../store/providers/providers.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf, listAdjustments } from '../store/settlement/lines.ts'
import type { Span } from '../store/table.ts'
import { unsettledPages } from '../store/work-index.ts'
import { casesSince } from './cases.ts'
import { caseEntries, completionEntry, completionOf, feeEntries, payoutEntries } from './entries.ts'
import { isWithin, type LedgerEntry } from './entry.ts'

/** Clocks differ, so the time in the index may be earlier than in the history. */
const SKEW_MS = 60_000
const PAGE_SIZE = 100

/** Derives the entries of a span of time from stored items, without fundings. */
export async function* entriesWithin(span: Span): AsyncGenerator<LedgerEntry> {
  const unsettled = new Set<Reference>()
  for (const provider of await listProviders()) {
    yield* completions(provider, span, unsettled)
    for (const entry of await batchEntries(provider, span)) yield entry
  }
  const cases = [...(await casesSince(span.from)).values()]
  for (const entry of cases.flatMap(caseEntries)) if (isWithin(entry.at, span)) yield entry
  const reversed = cases.flatMap(({ refund }) =>
    refund?.origin === 'reversal' && !unsettled.has(refund.reference) ? [refund.reference] : [],
  )
  // Completed in the span, and reversed before settlement.
  for (const debit of (await findDebits(reversed)).values()) {
    const completion = completionWithin(debit, span)
    if (completion && !debit.settledIn) yield completionEntry(completion)
  }
}

const completionWithin = (debit: Debit, span: Span) => {
  const completion = completionOf(debit)
  return completion && isWithin(completion.completedAt, span) ? completion : undefined
}

/** Reads unsettled debits before lines, so that a debit settled in between is not missed. */
async function* completions(
  provider: ProviderId,
  span: Span,
  unsettled: Set<Reference>,
): AsyncGenerator<LedgerEntry> {
  const from = new Date(span.from.getTime() - SKEW_MS)
  for await (const page of unsettledPages(provider, { ...span, from, pageSize: PAGE_SIZE })) {
    for (const debit of (await findDebits(page)).values()) {
      const completion = completionWithin(debit, span)
      const isUnsettled = debit.status === 'completed' && !debit.settledIn
      if (!completion || !isUnsettled) continue
      unsettled.add(debit.facts.reference)
      yield completionEntry(completion)
    }
  }
  for (const { id } of (await listBatchTimes(provider)).filter((batch) => mayHave(batch, span))) {
    for await (const line of linesOf(id)) {
      if (line.type !== 'debit' || unsettled.has(line.reference)) continue
      if (isWithin(line.completedAt, span)) yield completionEntry({ ...line, provider })
    }
  }
}

/** Reports whether a batch may have lines completed in the span. Its lines are older than its day. */
const mayHave = ({ date, completedFrom }: BatchTimes, { from, before }: Span): boolean =>
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

const batchEntries = async (provider: ProviderId, span: Span): Promise<LedgerEntry[]> => {
  const batches = await findBatchesWithin(provider, span)
  const entries = await Promise.all(
    batches.map(async (stored) => {
      // A sealed batch may not have its totals yet.
      const batch = stored.totals ? stored : await withSums(stored, linesOf(stored.id))
      const hasAdjustments = batch.totals && batch.totals.count > batch.totals.debits
      const adjustments = hasAdjustments ? await listAdjustments(batch.id) : []
      return [...feeEntries(batch, adjustments), ...payoutEntries(batch)]
    }),
  )
  return entries.flat().filter(({ at }) => isWithin(at, span))
}
