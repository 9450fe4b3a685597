import { formatAmount } from './money.ts'
import type { Batch, Line, Totals } from './settlement.ts'
import { type AmountForm, iso } from './transaction.ts'

/** Settlement as partners and operators see it: batches, their lines, their sums. */

/** Sums of a batch; null while it is being built. */
export const totalsView = (totals: Totals | null, amountOf: AmountForm = formatAmount) => ({
  count: totals?.count ?? null,
  debits: totals?.debits ?? null,
  gross: totals && amountOf(totals.gross),
  fee: totals && amountOf(totals.fee),
  adjustments: totals && amountOf(totals.adjustments),
  net: totals && amountOf(totals.net),
})

export const batchView = (batch: Batch, amountOf: AmountForm = formatAmount) => ({
  id: batch.id,
  uuid: batch.uuid,
  provider: batch.partner,
  currency: batch.currency,
  date: batch.date,
  status: batch.status,
  ...totalsView(batch.totals, amountOf),
  created_at: iso(batch.createdAt),
  sealed_at: iso(batch.sealedAt),
  processed_at: iso(batch.processedAt),
  completed_at: iso(batch.completedAt),
  failed_at: iso(batch.failedAt),
  failure: batch.failure,
  bank_reference: batch.bankReference,
  paid: batch.paid === null ? null : amountOf(batch.paid),
  made_good_by: batch.madeGoodBy,
})

export const lineView = (line: Line) => ({
  type: line.type,
  reference: line.reference,
  partner_reference: line.partnerReference,
  bank_reference: line.bankReference,
  completed_at: iso(line.completedAt),
  currency: 'GHS' as const,
  gross: formatAmount(line.gross),
  fee: formatAmount(line.fee),
  net: formatAmount(line.net),
})
