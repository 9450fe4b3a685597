import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Debit } from '../domain/debits/debit.ts'
import type { BatchId, Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, Line } from '../domain/settlement/batch.ts'
import { type Account, type Balances, isWithin } from '../domain/settlement/ledger-entry.ts'
import { casesSince, openCases } from '../ledger/cases.ts'
import { type Case, completionOf, repaidAt, undecidedUntil } from '../ledger/entries.ts'
import { unsettledDebits } from '../ledger/facts.ts'
import { findDebits } from '../store/debits/debits.ts'
import { type BatchTimes, findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import { EXPECTED } from './lifecycle.ts'
import { HAS_PAYOUT, SKEW_MS, timeOf, type Window } from './records.ts'
import { whole } from './sums.ts'

/** Computes debts at a time without ledger entries: starts from the current table, undoes later changes. */

const BEGINNING = new Date(0)

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

const addTo = (collected: Balances, bank: BankIdentifier, amount: bigint): void => {
  const account: Account = `bank_receivable:${bank}`
  collected.set(account, (collected.get(account) ?? 0) + Number(amount))
}

/** Adds what the bank of a debit owes since the day, if it completed the debit on the day. */
export const addCollected = (collected: Balances, debit: Debit, window: Window): void => {
  const { bank, amount } = debit.facts
  const at = timeOf(debit, 'completed')
  if (at && isWithin(at, window)) addTo(collected, bank.identifier, whole(amount))
}

/** Adds what banks owe since the day for late completions, and no longer owe for refunds. */
export const addCases = (collected: Balances, cases: readonly Case[], window: Window): void => {
  for (const item of cases) {
    const { refund, exceptions } = item
    const bank = refund?.bank ?? exceptions[0]?.bank
    if (bank) addTo(collected, bank, shareOf(item, window.before) - shareOf(item, window.from))
  }
}

/** Returns what a bank owes at a time for a case, besides the completion of its debit. */
const shareOf = (item: Case, end: Date): bigint => {
  const { refund, exceptions } = item
  const isPaid = isBefore(refund?.completedAt, end) || isBefore(repaidAt(item), end)
  const paid = refund && isPaid ? whole(refund.amount) : 0n
  const late = exceptions.filter(({ kind, at }) => kind === 'late_completion' && at < end)
  // A note leaves the amount with the customer, unless a refund follows it.
  const isNoted = late.some(({ resolvedAt }) => resolvedAt && new Date(resolvedAt) < end)
  const isReturned = isNoted && !isBefore(refund?.createdAt, end)
  return (isReturned ? 0n : whole(late[0]?.amount ?? 0)) - paid
}

/** Returns the debits that were completed before `end`, and reversed unsettled since. */
export const reversedSince = async (cases: readonly Case[], end: Date) => {
  const reversals = new Map(
    cases.flatMap(({ refund }) =>
      refund?.origin === 'reversal' && refund.createdAt >= end
        ? [[refund.reference, refund.createdAt] as const]
        : [],
    ),
  )
  const debits = await findDebits([...reversals.keys()])
  return [...reversals].flatMap(([reference, reversedAt]) => {
    const debit = debits.get(reference)
    if (!debit || debit.settledIn || !isBefore(completionOf(debit)?.completedAt, end)) return []
    const { provider, amount } = debit.facts
    return [{ provider, amount: whole(amount), reversedAt }]
  })
}

/** Returns the debt for batches sealed before `end`, and the cash of payouts since. */
export const stateOfBatches = async (provider: ProviderId, end: Date) => {
  const times = await listBatchTimes(provider)
  const [later, open] = await Promise.all([
    headersOf(times.filter(({ sealedAt }) => !isBefore(sealedAt, end))),
    headersOf(
      times.filter(
        ({ sealedAt, completedAt }) => isBefore(sealedAt, end) && !isBefore(completedAt, end),
      ),
    ),
  ])
  return { owed: batchesAt(open, later), paidSince: sum([...open, ...later].map(takenFromCash)) }
}

const headersOf = (times: readonly BatchTimes[]) => findBatches(times.map(({ id }) => id))

/** The debits whose missing line or adjustment is counted. */
export type Counted = Map<Reference, Line['type']>

/**
 * Sums completed debits without a line, less reversed ones without an adjustment.
 * @param counted receives the debits that it counts, so that a line written in between is not counted
 */
export const unsettledAt = async (provider: ProviderId, end: Date, counted: Counted) => {
  const before = new Date(end.getTime() + SKEW_MS)
  let owed = 0n
  for await (const debits of unsettledDebits(provider, { from: BEGINNING, before })) {
    for (const debit of debits) {
      const share = unsettledShare(debit, end)
      if (share !== 0n) counted.set(debit.facts.reference, share > 0n ? 'debit' : 'adjustment')
      owed += share
    }
  }
  return owed
}

const unsettledShare = (debit: Debit, end: Date): bigint => {
  const { status, settledIn, adjustedIn, facts } = debit
  if (EXPECTED[status].money === 'unsettled' && !settledIn) {
    return isBefore(completionOf(debit)?.completedAt, end) ? whole(facts.amount) : 0n
  }
  const isUnadjusted = EXPECTED[status].money === 'reversed' && settledIn && !adjustedIn
  return isUnadjusted && isBefore(timeOf(debit, 'reversed'), end) ? -whole(facts.amount) : 0n
}

/** Returns the share of a line of a batch sealed later, whose debit was unsettled at `end`. */
export const lineShare = ({ type, gross, completedAt }: Line, end: Date): bigint =>
  type === 'debit' && completedAt < end ? whole(gross) : 0n

/** Sums the adjustments, in batches sealed later, of debits that were reversed before `end`. */
export const adjustedAt = async (adjustments: readonly Line[], end: Date): Promise<bigint> => {
  const debits = await findDebits(adjustments.map(({ reference }) => reference))
  return sum(
    adjustments.map(({ reference, gross }) => {
      const debit = debits.get(reference)
      return debit && isBefore(timeOf(debit, 'reversed'), end) ? whole(gross) : 0n
    }),
  )
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
  if (HAS_PAYOUT[status]) return whole(paid ?? 0)
  const net = whole(totals?.net ?? 0)
  return net < 0n ? whole(outstanding) : net
}

const takenFromCash = ({ status, paid }: Batch): bigint =>
  HAS_PAYOUT[status] ? whole(paid ?? 0) : 0n
