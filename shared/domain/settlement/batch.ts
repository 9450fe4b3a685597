import * as v from 'valibot'
import type { BankIdentifier } from '../banks/bank.ts'
import { derivedUuid, type Reference, type Uuid } from '../ids.ts'
import { CURRENCY, type Pesewas, pesewas } from '../money.ts'
import type { ProviderId, SettlementAccount } from '../providers/provider.ts'
import { type Day, dayAfter, dayOf, startOf } from '../time.ts'
import type { FeeSchedule } from './fee-schedule.ts'

/**
 * Settlement: what a provider's completed debits of earlier days come to, as batches of lines that
 * are paid out (specification, Settlement batch). Amounts are whole pesewas; every line is rounded
 * once, and totals are sums of lines.
 */

/** References of batches begin with it, and those of debits never do. */
export const BATCH_PREFIX = 'STL'

/** Names a batch: `STL-YYYYMMDD-XXXXXX`, the day being the one whose run opened it. */
export const BatchId = v.pipe(
  v.string(),
  v.regex(/^STL-[0-9]{8}-[A-Z0-9]{6}$/, 'must be a batch like STL-20261122-ABC123'),
  v.brand('BatchId'),
)
export type BatchId = v.InferOutput<typeof BatchId>

/** What a caller's text names as a batch; undefined: it can be none. */
export const readBatchId = (text: string | undefined): BatchId | undefined => {
  const named = v.safeParse(BatchId, text)
  return named.success ? named.output : undefined
}

/** Whether a reference is that of a batch, and not of a debit. */
export const isBatchId = (reference: string): boolean => reference.startsWith(`${BATCH_PREFIX}-`)

export type BatchStatus = 'pending' | 'processing' | 'completed' | 'failed'

export type Batch = {
  id: BatchId
  /** The bank knows a repeated instruction by it: a function of the id and the attempt. */
  uuid: Uuid
  /** Counts the payouts that were begun, from 1: an operator's retry is another one. */
  attempt: number
  /** The table's generation when it was opened (restore.ts). Absent: 1. */
  generation?: number | undefined
  /** The generation of its event, which says that it was paid. Absent: 1. */
  completedGeneration?: number | undefined
  provider: ProviderId
  currency: 'GHS'
  /** The day whose run opened it: its debits were completed before that day began. */
  date: Day
  /** Counts the batches of a provider and a day, from 1: what comes late finds a new one. */
  n: number
  status: BatchStatus
  createdAt: Date
  /** From here on no line is added; null: it is being built. */
  sealedAt: Date | null
  /** The provider's schedule when the batch was opened; all its lines follow it. */
  feeSchedule: FeeSchedule | null
  /** The sums of its lines, once it is sealed. */
  totals: Totals | null
  /** The UTC day of the earliest completion among its lines, once it is sealed; null: no lines. */
  completedFrom: Day | null
  /** When its reports were written. */
  reportedAt: Date | null
  processedAt: Date | null
  completedAt: Date | null
  failedAt: Date | null
  /** Why it failed. */
  failure: string | null
  /** The bank's own reference of the payment. */
  bankReference: string | null
  /** What is paid: its net, less what it makes good. */
  paid: Pesewas | null
  /** To where; it stays so, whatever account the provider has later. */
  paidTo: SettlementAccount | null
  /** What it makes good of batches whose net is below zero. */
  offsets: readonly { batch: BatchId; amount: Pesewas }[]
  /** What later batches have yet to make good of its net below zero; nothing or less. */
  outstanding: Pesewas
  /** The batch that made good the last of it. */
  offsetBy: BatchId | null
  /** Counts its writes, but for those of its lines. */
  version: number
}

/** One debit in a batch, or the taking back of one that was reversed after its settlement. */
export type Line = {
  type: 'debit' | 'adjustment'
  reference: Reference
  partnerReference: string
  bankReference: string | null
  /** The bank that debited the customer. */
  bank: BankIdentifier
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

/** When a batch is to be paid: the day after the one whose run opened it. */
export const payableFrom = ({ date }: Pick<Batch, 'date'>): Date => startOf(dayAfter(date))

export const isOpenBatch = ({ sealedAt }: Pick<Batch, 'sealedAt'>): boolean => sealedAt === null

/** Returns the uuid of a payout: the same for the same attempt at the same batch. */
export const payoutUuid = (id: BatchId, attempt: number): Uuid =>
  derivedUuid(`payout#${id}#${attempt}`)

type Opening = Pick<
  Batch,
  'id' | 'uuid' | 'provider' | 'date' | 'n' | 'generation' | 'createdAt' | 'feeSchedule'
>

/** A batch before its first line. */
export const openBatch = (opening: Opening): Batch => ({
  ...opening,
  currency: CURRENCY,
  status: 'pending',
  attempt: 1,
  sealedAt: null,
  totals: null,
  completedFrom: null,
  reportedAt: null,
  processedAt: null,
  completedAt: null,
  failedAt: null,
  failure: null,
  bankReference: null,
  paid: null,
  paidTo: null,
  offsets: [],
  outstanding: pesewas(0),
  offsetBy: null,
  version: 1,
})

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

/** Returns a sealed batch with the sums of its lines. */
export const withSums = async (
  batch: Batch,
  lines: AsyncIterable<Line> | Iterable<Line>,
): Promise<Batch> => {
  let totals = noTotals
  let earliest: Date | undefined
  for await (const line of lines) {
    totals = addLine(totals, line)
    if (!earliest || line.completedAt < earliest) earliest = line.completedAt
  }
  return withTotals(batch, totals, earliest)
}

export const withTotals = (batch: Batch, totals: Totals, earliest: Date | undefined): Batch => ({
  ...batch,
  totals,
  completedFrom: earliest ? dayOf(earliest) : null,
  outstanding: pesewas(Math.min(0, totals.net)),
})
