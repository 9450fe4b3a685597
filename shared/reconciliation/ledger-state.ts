import type { Debit } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, BatchId } from '../domain/settlement/batch.ts'
import { startOf } from '../domain/time.ts'
import { casesSince, openCases } from '../ledger/cases.ts'
import type { Case } from '../ledger/entries.ts'
import { completionOf, repaidAt, undecidedUntil } from '../ledger/entries.ts'
import { findDebits } from '../store/debits/debits.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { linesOf } from '../store/settlement/lines.ts'
import { unsettledPages } from '../store/work-index.ts'
import { timeOf } from './related.ts'
import { whole } from './sums.ts'

/**
 * What is owed at a time, from the state of debits, batches and refunds and without any entry: what
 * happened since is taken out of it.
 */

const BEGINNING = new Date(0)
const SKEW_MS = 60_000
const PAGE_SIZE = 100

const isBefore = (at: Date | null | undefined, end: Date): boolean => Boolean(at && at < end)

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

/** Cases that were open at a time: those that are open now, and those that were decided since. */
export const casesAt = async (end: Date): Promise<Case[]> => [
  ...new Map([...(await openCases()), ...(await casesSince(end))]).values(),
]

/** Refunds that were opened by then, and not yet completed or repaid by hand. */
export const refundsOwed = (cases: readonly Case[], end: Date): bigint =>
  sum(
    cases.flatMap((one) => {
      const { refund } = one
      if (!refund || !isBefore(refund.createdAt, end)) return []
      const isOver = isBefore(refund.completedAt, end) || isBefore(repaidAt(one), end)
      return isOver ? [] : [whole(refund.amount)]
    }),
  )

/** Late completions that were reported by then, and not yet decided. */
export const undecided = (cases: readonly Case[], end: Date): bigint =>
  sum(
    cases.flatMap((one) => {
      const late = undecidedUntil(one)
      return late && late.from < end && !isBefore(late.until, end) ? [whole(late.amount)] : []
    }),
  )

/** Debits that were completed by then, and reversed since without a run that settled them. */
export const reversedSince = async (
  cases: readonly Case[],
  end: Date,
): Promise<Map<ProviderId, bigint>> => {
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

/** The debt to a provider at a time, and the cash that its payouts have taken since. */
export type ProviderState = { owed: bigint; paidSince: bigint }

export const stateOf = async (provider: ProviderId, end: Date): Promise<ProviderState> => {
  const seen = new Set<Reference>()
  const waiting = await waitingAt(provider, end, seen)
  const times = await listBatchTimes(provider)
  const later = times.filter(({ sealedAt }) => !isBefore(sealedAt, end))
  const open = times.filter(
    ({ sealedAt, completedAt }) => isBefore(sealedAt, end) && !isBefore(completedAt, end),
  )
  const unsealed = await Promise.all(later.map((batch) => linesAt(batch, end, seen)))
  const [openBatches, laterBatches] = [await headersOf(open), await headersOf(later)]
  return {
    owed: waiting + sum(unsealed) + batchesAt(openBatches, laterBatches),
    paidSince: sum([...openBatches, ...laterBatches].map(takenFromCash)),
  }
}

const headersOf = (times: readonly BatchTimes[]): Promise<Batch[]> =>
  findBatches(times.map(({ id }) => id))

/** Completed debits without a line, less reversed ones whose line is not taken back. */
const waitingAt = async (
  provider: ProviderId,
  end: Date,
  seen: Set<Reference>,
): Promise<bigint> => {
  const before = new Date(end.getTime() + SKEW_MS)
  let owed = 0n
  const pages = unsettledPages(provider, { from: BEGINNING, before, pageSize: PAGE_SIZE })
  for await (const page of pages) {
    for (const debit of (await findDebits(page)).values()) {
      const share = waitingShare(debit, end)
      if (share > 0n) seen.add(debit.facts.reference)
      owed += share
    }
  }
  return owed
}

const waitingShare = (debit: Debit, end: Date): bigint => {
  const { status, settledIn, adjustedIn, facts } = debit
  if (status === 'completed' && !settledIn) {
    return isBefore(completionOf(debit)?.completedAt, end) ? whole(facts.amount) : 0n
  }
  const isTakenBack = status === 'reversed' && settledIn && !adjustedIn
  return isTakenBack && isBefore(timeOf(debit, 'reversed'), end) ? -whole(facts.amount) : 0n
}

/** The lines of a batch that was sealed later: what they are about had happened by then. */
const linesAt = async (
  { id, completedFrom }: BatchTimes,
  end: Date,
  seen: ReadonlySet<Reference>,
): Promise<bigint> => {
  let owed = 0n
  const adjustments = new Map<Reference, bigint>()
  if (completedFrom && startOf(completedFrom) >= end) return owed
  for await (const { type, reference, gross, completedAt } of linesOf(id)) {
    if (type === 'adjustment') adjustments.set(reference, whole(gross))
    else if (completedAt < end && !seen.has(reference)) owed += whole(gross)
  }
  for (const [reference, debit] of await findDebits([...adjustments.keys()])) {
    if (isBefore(timeOf(debit, 'reversed'), end)) owed += adjustments.get(reference) ?? 0n
  }
  return owed
}

/**
 * The nets of batches that were sealed and not completed then. A batch that makes others good has
 * the rest of its net still to pay, and only that is left outstanding of the others.
 */
const batchesAt = (open: readonly Batch[], later: readonly Batch[]): bigint => {
  const [opened, sealedLater] = [open, later].map((some) => new Set(some.map(({ id }) => id)))
  const madeGood = (batches: readonly Batch[], of: ReadonlySet<BatchId> | undefined) =>
    sum(
      batches.flatMap(({ offsets }) =>
        offsets.flatMap(({ batch, amount }) => (of?.has(batch) ? [whole(amount)] : [])),
      ),
    )
  return sum(open.map(restOf)) + madeGood(open, sealedLater) - madeGood(later, opened)
}

const restOf = ({ status, paid, outstanding, totals }: Batch): bigint => {
  if (status === 'processing' || status === 'completed') return whole(paid ?? 0)
  const net = whole(totals?.net ?? 0)
  return net < 0n ? whole(outstanding) : net
}

const takenFromCash = ({ status, paid }: Batch): bigint =>
  status === 'processing' || status === 'completed' ? whole(paid ?? 0) : 0n
