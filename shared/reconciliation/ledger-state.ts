import type { Debit } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, BatchId } from '../domain/settlement/batch.ts'
import { startOf } from '../domain/time.ts'
import { casesSince, openCases } from '../ledger/cases.ts'
import { type Case, completionOf, repaidAt, undecidedUntil } from '../ledger/entries.ts'
import { findDebits } from '../store/debits/debits.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf } from '../store/settlement/lines.ts'
import { unsettledPages } from '../store/work-index.ts'
import { timeOf } from './records.ts'
import { whole } from './sums.ts'

/** Computes debts at a time without ledger entries: starts from the current table, undoes later changes. */

const BEGINNING = new Date(0)
const SKEW_MS = 60_000
const PAGE_SIZE = 100

const isBefore = (at: Date | null | undefined, end: Date): boolean => Boolean(at && at < end)

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** Returns the cases that were open at a time: open now or decided since. */
export const casesAt = async (end: Date): Promise<Case[]> => [
  ...new Map([...(await openCases()), ...(await casesSince(end))]).values(),
]

/** Sums the refunds that were opened before `end` and not yet completed or repaid by hand. */
export const refundsOwed = (cases: readonly Case[], end: Date): bigint =>
  sum(
    cases.flatMap((item) => {
      const { refund } = item
      if (!refund || !isBefore(refund.createdAt, end)) return []
      const isPaid = isBefore(refund.completedAt, end) || isBefore(repaidAt(item), end)
      return isPaid ? [] : [whole(refund.amount)]
    }),
  )

/** Sums the late completions that were reported before `end` and not yet decided. */
export const undecided = (cases: readonly Case[], end: Date): bigint =>
  sum(
    cases.flatMap((item) => {
      const late = undecidedUntil(item)
      return late && late.from < end && !isBefore(late.until, end) ? [whole(late.amount)] : []
    }),
  )

/** Sums by provider the debits that were completed before `end` and reversed unsettled since. */
export const reversedSince = async (cases: readonly Case[], end: Date) => {
  const references = cases.flatMap(({ refund }) =>
    refund?.origin === 'reversal' && refund.createdAt >= end ? [refund.reference] : [],
  )
  const owed = new Map<ProviderId, bigint>()
  for (const debit of (await findDebits(references)).values()) {
    const { provider } = debit.facts
    if (debit.settledIn || !isBefore(completionOf(debit)?.completedAt, end)) continue
    owed.set(provider, (owed.get(provider) ?? 0n) + whole(debit.facts.amount))
  }
  return owed
}

/** Returns the debt to a provider at a time, and the cash of its payouts since. */
export const stateOf = async (provider: ProviderId, end: Date) => {
  const unsettled = new Set<Reference>()
  const owedUnsettled = await unsettledAt(provider, end, unsettled)
  const times = await listBatchTimes(provider)
  const later = times.filter(({ sealedAt }) => !isBefore(sealedAt, end))
  const open = times.filter(
    ({ sealedAt, completedAt }) => isBefore(sealedAt, end) && !isBefore(completedAt, end),
  )
  const unsealed = await Promise.all(later.map((batch) => linesAt(batch, end, unsettled)))
  const [openBatches, laterBatches] = [await headersOf(open), await headersOf(later)]
  return {
    owed: owedUnsettled + sum(unsealed) + batchesAt(openBatches, laterBatches),
    paidSince: sum([...openBatches, ...laterBatches].map(takenFromCash)),
  }
}

const headersOf = (times: readonly BatchTimes[]) => findBatches(times.map(({ id }) => id))

/** Sums completed debits without a line, less reversed ones without an adjustment. */
const unsettledAt = async (provider: ProviderId, end: Date, unsettled: Set<Reference>) => {
  const before = new Date(end.getTime() + SKEW_MS)
  let owed = 0n
  const pages = unsettledPages(provider, { from: BEGINNING, before, pageSize: PAGE_SIZE })
  for await (const page of pages) {
    for (const debit of (await findDebits(page)).values()) {
      const share = unsettledShare(debit, end)
      if (share > 0n) unsettled.add(debit.facts.reference)
      owed += share
    }
  }
  return owed
}

const unsettledShare = (debit: Debit, end: Date): bigint => {
  const { status, settledIn, adjustedIn, facts } = debit
  if (status === 'completed' && !settledIn) {
    return isBefore(completionOf(debit)?.completedAt, end) ? whole(facts.amount) : 0n
  }
  const isUnadjusted = status === 'reversed' && settledIn && !adjustedIn
  return isUnadjusted && isBefore(timeOf(debit, 'reversed'), end) ? -whole(facts.amount) : 0n
}

/** Sums the lines of a batch sealed later whose debits had ended before `end`. */
const linesAt = async (
  { id, completedFrom }: BatchTimes,
  end: Date,
  counted: ReadonlySet<Reference>,
): Promise<bigint> => {
  let owed = 0n
  const adjustments = new Map<Reference, bigint>()
  if (completedFrom && startOf(completedFrom) >= end) return owed
  for await (const { type, reference, gross, completedAt } of linesOf(id)) {
    if (type === 'adjustment') adjustments.set(reference, whole(gross))
    else if (completedAt < end && !counted.has(reference)) owed += whole(gross)
  }
  for (const [reference, debit] of await findDebits([...adjustments.keys()])) {
    if (isBefore(timeOf(debit, 'reversed'), end)) owed += adjustments.get(reference) ?? 0n
  }
  return owed
}

/** Sums the nets of batches that were sealed and not completed, with offsets as they were then. */
const batchesAt = (open: readonly Batch[], later: readonly Batch[]): bigint => {
  const [openIds, laterIds] = [open, later].map((batches) => new Set(batches.map(({ id }) => id)))
  const offsetTo = (batches: readonly Batch[], ids: ReadonlySet<BatchId> | undefined) =>
    sum(
      batches.flatMap(({ offsets }) =>
        offsets.flatMap(({ batch, amount }) => (ids?.has(batch) ? [whole(amount)] : [])),
      ),
    )
  return sum(open.map(unpaidOf)) + offsetTo(open, laterIds) - offsetTo(later, openIds)
}

const unpaidOf = ({ status, paid, outstanding, totals }: Batch): bigint => {
  if (status === 'processing' || status === 'completed') return whole(paid ?? 0)
  const net = whole(totals?.net ?? 0)
  return net < 0n ? whole(outstanding) : net
}

const takenFromCash = ({ status, paid }: Batch): bigint =>
  status === 'processing' || status === 'completed' ? whole(paid ?? 0) : 0n
