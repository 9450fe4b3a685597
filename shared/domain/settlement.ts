import * as v from 'valibot'
import { type Debit, stateAt } from './debit.ts'
import { split } from './fee.ts'
import type { FeeSchedule } from './fee-schedule.ts'
import { type Pesewas, pesewas } from './money.ts'
import type { PartnerId } from './partner.ts'
import type { Reference, Uuid } from './reference.ts'

/**
 * Settlement: what a partner's completed debits of earlier days come to, as batches of lines that
 * are paid out (specification, Settlement batch). Amounts are whole pesewas; every line is rounded
 * once, and totals are sums of lines.
 */

/** Names a batch: `STL-YYYYMMDD-XXXXXX`, the day being the one whose run opened it. */
export const BatchId = v.pipe(
  v.string(),
  v.regex(/^STL-[0-9]{8}-[A-Z0-9]{6}$/, 'must be a batch like STL-20261122-ABC123'),
  v.brand('BatchId'),
)
export type BatchId = v.InferOutput<typeof BatchId>

/** A day of the UTC calendar. */
export const Day = v.pipe(
  v.string(),
  v.isoDate('must be a day like 2026-11-21'),
  v.check((text) => new Date(text).toISOString().startsWith(text), 'must be a day of the calendar'),
  v.brand('Day'),
)
export type Day = v.InferOutput<typeof Day>

export type BatchStatus = 'pending' | 'processing' | 'completed' | 'failed'

export type Batch = {
  id: BatchId
  /** The bank knows a repeated instruction by it. */
  uuid: Uuid
  partner: PartnerId
  currency: 'GHS'
  /** The day whose run opened it: its debits were completed before that day began. */
  date: Day
  /** Counts the batches of a partner and a day, from 1: what comes late finds a new one. */
  n: number
  status: BatchStatus
  createdAt: Date
  /** From here on no line is added; null: it is being built. */
  sealedAt: Date | null
  /** The sums of its lines, once it is sealed. */
  totals: Totals | null
  /** When its reports were written. */
  reportedAt: Date | null
  processedAt: Date | null
  completedAt: Date | null
  failedAt: Date | null
  /** Why it failed. */
  failure: string | null
  /** The bank's own reference of the payment. */
  bankReference: string | null
  /** What was paid: its net, and those below zero that it made good. */
  paid: Pesewas | null
  /** The later batch that made good its net below zero. */
  madeGoodBy: BatchId | null
}

/** One debit in a batch, or the taking back of one that was reversed after its settlement. */
export type Line = {
  type: 'debit' | 'adjustment'
  reference: Reference
  partnerReference: string
  bankReference: string | null
  completedAt: Date
  gross: Pesewas
  fee: Pesewas
  net: Pesewas
}

/** `net` = `gross` - `fee` + `adjustments`; gross and fee are of the debits alone. */
export type Totals = {
  count: number
  debits: number
  gross: Pesewas
  fee: Pesewas
  adjustments: Pesewas
  net: Pesewas
}

export const noTotals: Totals = {
  count: 0,
  debits: 0,
  gross: pesewas(0),
  fee: pesewas(0),
  adjustments: pesewas(0),
  net: pesewas(0),
}

export const addLine = (totals: Totals, line: Line): Totals => {
  const isDebit = line.type === 'debit'
  return {
    count: totals.count + 1,
    debits: totals.debits + (isDebit ? 1 : 0),
    gross: pesewas(totals.gross + (isDebit ? line.gross : 0)),
    fee: pesewas(totals.fee + (isDebit ? line.fee : 0)),
    adjustments: pesewas(totals.adjustments + (isDebit ? 0 : line.net)),
    net: pesewas(totals.net + line.net),
  }
}

export const totalsOf = (lines: Iterable<Line>): Totals => {
  let totals = noTotals
  for (const line of lines) totals = addLine(totals, line)
  return totals
}

/** The line of a completed debit; the bank's own fee goes before the partner's schedule. */
export const debitLine = (debit: Debit, schedule: FeeSchedule | undefined): Line => {
  const { reference, partnerReference, amount, bankReference, completedAt, fee } = stateAt(debit)
  if (!completedAt) throw new Error(`Debit ${reference} was never completed`)
  return {
    type: 'debit',
    reference,
    partnerReference,
    bankReference,
    completedAt,
    gross: amount,
    ...split(amount, fee ?? schedule),
  }
}

/** The line that takes a settled debit back: the original one, negative. */
export const adjustmentLine = (original: Line): Line => ({
  ...original,
  type: 'adjustment',
  gross: pesewas(-original.gross),
  fee: pesewas(-original.fee),
  net: pesewas(-original.net),
})
