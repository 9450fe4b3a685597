import { CURRENCY, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Batch, Line, Totals } from '../domain/settlement/batch.ts'
import type { FeeSchedule } from '../domain/settlement/fee-schedule.ts'
import { iso } from '../domain/time.ts'
import type { AmountForm } from './transaction.ts'

/** Settlement as providers and operators see it: batches, their lines, their sums. */

/** Gross and fee are of the debits alone; what was taken back is in adjustments. */
export const totalsView = (totals: Totals, amountOf: AmountForm = formatAmount) => ({
  count: totals.count,
  debits: totals.debits,
  gross: amountOf(totals.gross),
  fee: amountOf(totals.fee),
  adjustments: amountOf(totals.adjustments),
  net: amountOf(totals.net),
})

/** Shows the fee schedule of a provider or of a batch; null: there is none. */
export const feeScheduleView = (
  schedule: FeeSchedule | null | undefined,
  amountOf: AmountForm = formatAmount,
) => {
  if (!schedule) return null
  const bound = (amount: Pesewas | undefined) => (amount === undefined ? null : amountOf(amount))
  return {
    basis_points: schedule.basisPoints,
    fixed: amountOf(schedule.fixed),
    minimum: bound(schedule.minimum),
    maximum: bound(schedule.maximum),
  }
}

/** Of a batch that is being built. */
const unknownTotals = {
  count: null,
  debits: null,
  gross: null,
  fee: null,
  adjustments: null,
  net: null,
}

export const batchView = (batch: Batch, amountOf: AmountForm = formatAmount) => ({
  id: batch.id,
  uuid: batch.uuid,
  provider: batch.provider,
  currency: batch.currency,
  date: batch.date,
  status: batch.status,
  ...(batch.totals ? totalsView(batch.totals, amountOf) : unknownTotals),
  fee_schedule: feeScheduleView(batch.feeSchedule, amountOf),
  created_at: iso(batch.createdAt),
  sealed_at: iso(batch.sealedAt),
  processed_at: iso(batch.processedAt),
  completed_at: iso(batch.completedAt),
  failed_at: iso(batch.failedAt),
  failure: batch.failure,
  bank_reference: batch.bankReference,
  paid: batch.paid === null ? null : amountOf(batch.paid),
  made_good_by: batch.offsetBy,
})

export const lineView = (line: Line) => ({
  type: line.type,
  reference: line.reference,
  partner_reference: line.partnerReference,
  bank_reference: line.bankReference,
  completed_at: line.completedAt.toISOString(),
  gross: formatAmount(line.gross),
  fee: formatAmount(line.fee),
  net: formatAmount(line.net),
  currency: CURRENCY,
})
