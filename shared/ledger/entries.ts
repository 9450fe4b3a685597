import type { BankIdentifier } from '../domain/banks/bank.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { isOfFailedRefund, type ReportException, rowOf } from '../domain/debits/exception.ts'
import { type Refund, type RefundOrigin, refundStatuses } from '../domain/debits/refund.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, Line } from '../domain/settlement/batch.ts'
import type { Funding } from '../domain/settlement/funding.ts'
import { type LedgerEntry, payable, receivable } from '../domain/settlement/ledger-entry.ts'
import { startOf } from '../domain/time.ts'

type Completion = {
  reference: string
  provider: ProviderId
  bank: BankIdentifier
  gross: number
  completedAt: Date
}

export const completionEntry = (completion: Completion): LedgerEntry => ({
  at: completion.completedAt,
  type: 'completion',
  source: { type: 'debit', id: completion.reference },
  debit: receivable(completion.bank),
  credit: payable(completion.provider),
  amount: completion.gross,
})

export const completionOf = (debit: Debit): Completion | undefined => {
  const { reference, provider, bank, amount, completedAt } = stateAt(debit)
  return completedAt
    ? { reference, provider, bank: bank.identifier, gross: amount, completedAt }
    : undefined
}

/** @param adjustments of the batch; they return fees */
export const feeEntries = (batch: Batch, adjustments: readonly Line[]): LedgerEntry[] => {
  const { sealedAt, totals, provider } = batch
  if (!sealedAt || !totals) return []
  const fees = adjustments.reduce((sum, { fee }) => sum + fee, Number(totals.fee))
  // Without the uuid, which a retry of the payout changes.
  const source = { type: 'batch', id: batch.id } as const
  const entry = { at: sealedAt, type: 'fees', source } as const
  const owed = payable(provider)
  if (fees === 0) return []
  return fees > 0
    ? [{ ...entry, debit: owed, credit: 'fee_income', amount: fees }]
    : [{ ...entry, debit: 'fee_income', credit: owed, amount: -fees }]
}

export const payoutEntries = (batch: Batch): LedgerEntry[] => {
  const { id, uuid, completedAt: at, paid, provider } = batch
  if (!at || !paid) return []
  const source = { type: 'batch', id, uuid } as const
  const owed = payable(provider)
  return paid > 0
    ? [{ at, type: 'payout', source, debit: owed, credit: 'cash', amount: paid }]
    : [{ at, type: 'provider_payment', source, debit: 'cash', credit: owed, amount: -paid }]
}

/** A correction has an entry of its own, so that the ledger of an earlier day stays as it was. */
export const fundingEntries = (funding: Funding): LedgerEntry[] => {
  const { bank, reference, amount, date, corrections = [] } = funding
  const source = { type: 'funding', id: reference, bank } as const
  const [cash, owed] = ['cash', receivable(bank)] as const
  const arrived = startOf(date)
  const first = { at: arrived, type: 'funding', source, debit: cash, credit: owed, amount } as const
  const corrected = corrections.flatMap((correction, index): LedgerEntry[] => {
    const difference = correction.amount - (corrections[index - 1]?.amount ?? amount)
    const [debit, credit] = difference > 0 ? [cash, owed] : [owed, cash]
    const made = new Date(correction.at)
    const at = made > arrived ? made : arrived
    return [{ at, type: 'funding_correction', source, debit, credit, amount: Math.abs(difference) }]
  })
  return [first, ...corrected]
}

/** The refund of one debit, and the exceptions that may lead to one. */
export type Case = { refund: Refund | undefined; exceptions: readonly ReportException[] }

const earliest = (dates: readonly Date[]): Date | undefined =>
  dates.reduce<Date | undefined>((first, at) => (first && first <= at ? first : at), undefined)

/** Returns the first report, and when an operator resolved it by a note without a refund. */
const lateCompletion = ({ refund, exceptions }: Case) => {
  const late = exceptions.filter(({ kind }) => rowOf(kind)?.account === 'exceptions')
  const reportedAt = earliest(late.map(({ at }) => at))
  const first = late.find(({ at }) => at === reportedAt)
  if (!first) return undefined
  const resolved = earliest(
    late.flatMap(({ resolvedAt }) => (resolvedAt ? [new Date(resolvedAt)] : [])),
  )
  // A refund resolves the exceptions after it is opened.
  const isNoted = resolved && !(refund && refund.createdAt <= resolved)
  if (!isNoted) return { first, notedAt: undefined }
  return { first, notedAt: first.at > resolved ? first.at : resolved }
}

const lateEntries = (item: Case): LedgerEntry[] => {
  const late = lateCompletion(item)
  if (!late) return []
  const { first, notedAt } = late
  const { at, requestId, reference, bank, amount } = first
  const source = { type: 'exception', id: requestId, reference } as const
  const [owed, undecided] = [receivable(bank), 'exceptions'] as const
  const reported: LedgerEntry = {
    at,
    type: 'late_completion',
    source,
    debit: owed,
    credit: undecided,
    amount,
  }
  if (!notedAt) return [reported]
  return [
    reported,
    { ...reported, at: notedAt, type: 'resolution', debit: undecided, credit: owed },
  ]
}

/** Returns the account that pays for a refund. */
const openings: Record<
  RefundOrigin,
  (refund: Refund, item: Case) => Pick<LedgerEntry, 'type' | 'debit'>
> = {
  reversal: ({ provider }) => ({ type: 'reversal', debit: payable(provider) }),
  late_completion: ({ bank }, item) => ({
    type: 'refund_opened',
    // A note has returned the amount to the bank's account before.
    debit: lateCompletion(item)?.notedAt ? receivable(bank) : 'exceptions',
  }),
}

/** Returns undefined for an origin of a later version; the reconciliation reports its exception. */
const openingOf = (refund: Refund, item: Case): LedgerEntry | undefined => {
  const { reference, amount, createdAt: at, origin, failed } = refund
  const source = { type: 'refund', id: failed[0]?.uuid ?? refund.uuid, reference } as const
  const opening = openings[origin]?.(refund, item)
  return opening && { at, source, credit: 'refunds_payable', amount, ...opening }
}

/** Returns when an operator repaid the customer of a failed refund and resolved its exception by a note. */
export const repaidAt = ({ refund, exceptions }: Case): Date | undefined => {
  if (!refund || !refundStatuses[refund.status].mayRetry) return undefined
  const exception = exceptions.find(
    (one) => rowOf(one.kind)?.repays && isOfFailedRefund(refund, one),
  )
  return exception?.resolvedAt ? new Date(exception.resolvedAt) : undefined
}

/** Returns when a late completion was reported and decided: refunded or resolved by a note. */
export const undecidedUntil = (item: Case) => {
  const late = lateCompletion(item)
  if (!late) return undefined
  const until = late.notedAt ?? item.refund?.createdAt
  return { from: late.first.at, amount: late.first.amount, ...(until ? { until } : {}) }
}

export const caseEntries = (item: Case): LedgerEntry[] => {
  const { refund } = item
  const late = lateEntries(item)
  const opening = refund && openingOf(refund, item)
  if (!opening) return late
  const { uuid, reference, bank, amount, completedAt, status } = refund
  // No money moved: the bank does not owe the amount, and the provider does not get it.
  if (!refundStatuses[status].isInstructed)
    return [...late, { ...opening, credit: receivable(bank) }]
  const returned = (at: Date | null | undefined, type: 'refund' | 'repayment'): LedgerEntry[] => {
    const source = { type: 'refund', id: uuid, reference } as const
    const debit = 'refunds_payable'
    return at ? [{ at, type, source, debit, credit: receivable(bank), amount }] : []
  }
  return [
    ...late,
    opening,
    ...returned(completedAt, 'refund'),
    ...returned(repaidAt(item), 'repayment'),
  ]
}
