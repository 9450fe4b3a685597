import type { BankIdentifier } from '../domain/banks/bank.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import type { ReportException } from '../domain/debits/exception.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch, Line } from '../domain/settlement/batch.ts'
import type { Funding } from '../domain/settlement/funding.ts'
import { startOf } from '../domain/time.ts'
import { type LedgerEntry, payable, receivable } from './entry.ts'

/** The entries that stored facts lead to; what has not happened yet leads to none. */

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

/** Returns the completion of a debit; undefined: it was never completed. */
export const completionOf = (debit: Debit): Completion | undefined => {
  const { reference, provider, bank, amount, completedAt } = stateAt(debit)
  return completedAt
    ? { reference, provider, bank: bank.identifier, gross: amount, completedAt }
    : undefined
}

/** @param adjustments the lines that take reversed debits back, and return their fees */
export const feeEntries = (batch: Batch, adjustments: readonly Line[]): LedgerEntry[] => {
  const { sealedAt, totals, provider } = batch
  if (!sealedAt || !totals) return []
  const fees = adjustments.reduce((sum, { fee }) => sum + fee, Number(totals.fee))
  // A retry of the payout changes the uuid.
  const source = { type: 'batch', id: batch.id } as const
  const entry = { at: sealedAt, type: 'fees', source } as const
  const owed = payable(provider)
  if (fees === 0) return []
  return fees > 0
    ? [{ ...entry, debit: owed, credit: 'fee_income', amount: fees }]
    : [{ ...entry, debit: 'fee_income', credit: owed, amount: -fees }]
}

export const payoutEntries = (batch: Batch): LedgerEntry[] => {
  const { id, uuid, completedAt, paid, provider } = batch
  if (!completedAt || !paid) return []
  return [
    {
      at: completedAt,
      type: 'payout',
      source: { type: 'batch', id, uuid },
      debit: payable(provider),
      credit: 'cash',
      amount: paid,
    },
  ]
}

export const fundingEntry = ({ bank, reference, amount, date }: Funding): LedgerEntry => ({
  at: startOf(date),
  type: 'funding',
  source: { type: 'funding', id: reference, bank },
  debit: 'cash',
  credit: receivable(bank),
  amount,
})

/** The refund of one debit, and the exceptions that may lead to one. */
export type Case = { refund: Refund | undefined; exceptions: readonly ReportException[] }

const earliest = (dates: readonly Date[]): Date | undefined =>
  dates.reduce<Date | undefined>((first, at) => (first && first <= at ? first : at), undefined)

const later = (one: Date, other: Date): Date => (one > other ? one : other)

/** A late completion: its first report, and when an operator resolved it by a note alone. */
const lateCompletion = ({ refund, exceptions }: Case) => {
  const late = exceptions.filter(({ kind }) => kind === 'late_completion')
  const at = earliest(late.map((one) => one.at))
  const first = late.find((one) => one.at === at)
  if (!first) return undefined
  const resolved = earliest(
    late.flatMap(({ resolvedAt }) => (resolvedAt ? [new Date(resolvedAt)] : [])),
  )
  // A refund resolves the exceptions that ask for it, after it is opened.
  const isNoted = resolved && !(refund && refund.createdAt <= resolved)
  return { first, notedAt: isNoted ? later(first.at, resolved) : undefined }
}

const lateEntries = (one: Case): LedgerEntry[] => {
  const late = lateCompletion(one)
  if (!late) return []
  const { first, notedAt } = late
  const { requestId, reference, bank, amount } = first
  const source = { type: 'exception', id: requestId, reference } as const
  const [owed, undecided] = [receivable(bank), 'exceptions'] as const
  return [
    { at: first.at, type: 'late_completion', source, debit: owed, credit: undecided, amount },
    ...(notedAt
      ? [
          {
            at: notedAt,
            type: 'resolution',
            source,
            debit: undecided,
            credit: owed,
            amount,
          } as const,
        ]
      : []),
  ]
}

const openingOf = (refund: Refund, one: Case): LedgerEntry => {
  const { reference, provider, bank, amount, createdAt: at, origin, failed } = refund
  const source = { type: 'refund', id: failed[0]?.uuid ?? refund.uuid, reference } as const
  const entry = { at, source, credit: 'refunds_payable', amount } as const
  if (origin === 'reversal') return { ...entry, type: 'reversal', debit: payable(provider) }
  // A note has returned the money to the bank's account before.
  const debit = lateCompletion(one)?.notedAt ? receivable(bank) : 'exceptions'
  return { ...entry, type: 'refund_opened', debit }
}

/** When the customer of a failed refund was repaid by hand: its exception was resolved by a note. */
export const repaidAt = ({ refund, exceptions }: Case): Date | undefined => {
  if (refund?.status !== 'failed') return undefined
  const exception = exceptions.find(
    ({ kind, requestId }) => kind === 'refund' && requestId === refund.uuid,
  )
  return exception?.resolvedAt ? new Date(exception.resolvedAt) : undefined
}

/** Returns when a late completion was decided: refunded, or resolved by a note. */
export const undecidedUntil = (
  one: Case,
): { from: Date; amount: number; until?: Date } | undefined => {
  const late = lateCompletion(one)
  if (!late) return undefined
  const until = late.notedAt ?? one.refund?.createdAt
  return { from: late.first.at, amount: late.first.amount, ...(until ? { until } : {}) }
}

/** Returns the entries of late completions, reversals and refunds. */
export const caseEntries = (one: Case): LedgerEntry[] => {
  const { refund } = one
  const late = lateEntries(one)
  if (!refund) return late
  const { uuid, reference, bank, amount, completedAt } = refund
  const returned = (at: Date | null | undefined, type: 'refund' | 'repayment'): LedgerEntry[] => {
    const source = { type: 'refund', id: uuid, reference } as const
    const debit = 'refunds_payable'
    return at ? [{ at, type, source, debit, credit: receivable(bank), amount }] : []
  }
  return [
    ...late,
    openingOf(refund, one),
    ...returned(completedAt, 'refund'),
    ...returned(repaidAt(one), 'repayment'),
  ]
}
