import { CURRENCY, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Batch, Line, Totals } from '../domain/settlement.ts'
import { iso } from '../domain/transaction.ts'

/** Batches and their lines as the API, the operator command and the reports show them. */

const amountOrNull = (amount: Pesewas | null): string | null =>
  amount === null ? null : formatAmount(amount)

/** Amounts of a batch that is still being built are not known: null. */
export const batchView = (batch: Batch) => ({
  id: batch.id,
  uuid: batch.uuid,
  provider: batch.partner,
  currency: batch.currency,
  date: batch.date,
  status: batch.status,
  ...(batch.totals ? totalsView(batch.totals) : noTotalsView),
  created_at: batch.createdAt.toISOString(),
  sealed_at: iso(batch.sealedAt),
  processed_at: iso(batch.processedAt),
  completed_at: iso(batch.completedAt),
  failed_at: iso(batch.failedAt),
  failure: batch.failure,
  bank_reference: batch.bankReference,
  paid: amountOrNull(batch.paid),
  made_good_by: batch.madeGoodBy,
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

/** Gross and fee are of the debits alone; what was taken back is in adjustments. */
export const totalsView = (totals: Totals) => ({
  count: totals.count,
  debits: totals.debits,
  gross: formatAmount(totals.gross),
  fee: formatAmount(totals.fee),
  adjustments: formatAmount(totals.adjustments),
  net: formatAmount(totals.net),
})

const noTotalsView = {
  count: null,
  debits: null,
  gross: null,
  fee: null,
  adjustments: null,
  net: null,
}
