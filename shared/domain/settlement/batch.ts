import type { BankIdentifier } from '../banks/bank.ts'
import { type BatchId, derivedUuid, type Reference, type Uuid } from '../ids.ts'
import { CURRENCY, type Pesewas, pesewas } from '../money.ts'
import type { FeeSchedule } from '../providers/fee-schedule.ts'
import type { ProviderId, SettlementAccount } from '../providers/provider.ts'
import { type Day, dayAfter, dayOf, startOf } from '../time.ts'

/**
 * Settlement: batches of lines for a provider's completed debits of earlier days (docs/api.md#batches).
 * Amounts are whole pesewas. Each line is rounded once, and totals are sums of lines.
 */

type BatchStatusRow = {
  /**
   * The effect of a call to pay the batch: `begins` its payout, `resumes` one that its bank may have, or
   * `retries` a rejected one, which only an operator may request; `none`: it is paid.
   */
  payout: 'begins' | 'resumes' | 'retries' | 'none'
  /** Whether its payout takes from the remitted cash. */
  takesCash: boolean
}

export const batchStatuses = {
  pending: { payout: 'begins', takesCash: false },
  processing: { payout: 'resumes', takesCash: true },
  completed: { payout: 'none', takesCash: true },
  failed: { payout: 'retries', takesCash: false },
} as const satisfies Record<string, BatchStatusRow>

export type BatchStatus = keyof typeof batchStatuses

export const payoutOf = ({ status }: Pick<Batch, 'status'>): BatchStatusRow['payout'] =>
  batchStatuses[status].payout

/** A payout that its bank rejected. A retry queries it by its uuid, because the bank can have paid it since. */
export type RejectedPayout = { uuid: Uuid; paid: Pesewas; paidTo: SettlementAccount }

export type Batch = {
  id: BatchId
  /** The bank deduplicates payouts by it. Derived from the id and the attempt. */
  uuid: Uuid
  /** The number of the payout, from 1. An operator's retry increments it. */
  attempt: number
  /** The generation of the table when the batch was opened. Absent: 1. */
  generation?: number | undefined
  /** The generation of its event. Absent: 1. */
  completedGeneration?: number | undefined
  provider: ProviderId
  currency: 'GHS'
  /** The day of the run that opened it. Its debits completed before that day. */
  date: Day
  /** Numbers the batches of a provider and a day, from 1. */
  n: number
  status: BatchStatus
  createdAt: Date
  /** The lanes in which builders add lines concurrently. Absent: 1. */
  lanes?: number | undefined
  /** After it no line is added; null: the batch is open. */
  sealedAt: Date | null
  /** The day from which it can be paid. Absent: not sealed yet, or the day after `date`. */
  payOn?: Day | undefined
  /** The provider's schedule when the batch was opened, for all its lines. */
  feeSchedule: FeeSchedule | null
  /** The sums of its lines, stored with `reportedAt`; null: not yet. */
  totals: Totals | null
  /** The UTC day of the earliest completion among its lines; null: no sums yet, or no lines. */
  completedFrom: Day | null
  /** The time when its reports were written. */
  reportedAt: Date | null
  processedAt: Date | null
  /** When a worker last began to send its payout. Absent: when it began. */
  sentAt?: Date | undefined
  completedAt: Date | null
  failedAt: Date | null
  failure: string | null
  /** The bank's reference of the payout. */
  bankReference: string | null
  /** The amount of the payout: the net less its offsets. Below zero: the provider transferred it. */
  paid: Pesewas | null
  /** The account of the payout; later changes of the provider do not affect it. Null for a transfer. */
  paidTo: SettlementAccount | null
  /** The bank that paid, as an operator recorded it; null: no bank of the service. Absent: that of the account. */
  paidBy?: BankIdentifier | null | undefined
  /** The payouts before a retry, each of which its bank rejected. Absent: none. */
  failed?: readonly RejectedPayout[] | undefined
  /** The amounts that it offsets of batches with a net below zero. */
  offsets: readonly { batch: BatchId; amount: Pesewas }[]
  /** The rest of a net below zero that later batches must offset; zero or less. */
  outstanding: Pesewas
  /** The batch that offset the rest. */
  offsetBy: BatchId | null
  /** Counts the writes of the header: the optimistic lock. */
  version: number
}

/** Returns the bank whose statement has the payout of a batch. */
export const payingBank = ({ paidBy, paidTo }: Batch): BankIdentifier | null =>
  paidBy === undefined ? (paidTo?.bank ?? null) : paidBy

export const lineTypes = ['debit', 'adjustment'] as const
export type LineType = (typeof lineTypes)[number]

/** A debit in a batch, or the adjustment for one that was reversed after settlement. */
export type Line = {
  type: LineType
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

/** `net` = `gross` - `fee` + `adjustments`; gross and fee do not include adjustments. */
export type Totals = {
  count: number
  debits: number
  gross: Pesewas
  fee: Pesewas
  adjustments: Pesewas
  net: Pesewas
}

type SealedBatch = Pick<Batch, 'date' | 'payOn'>

export const payoutDay = ({ date, payOn }: SealedBatch): Day => payOn ?? dayAfter(date)

/** Returns the earliest time of the payout. */
export const payableFrom = (batch: SealedBatch): Date => startOf(payoutDay(batch))

/** Whether a call to pay the batch begins its payout before its day. */
export const isEarlyPayout = (batch: Pick<Batch, 'status' | 'date' | 'payOn'>, at: Date): boolean =>
  payoutOf(batch) === 'begins' && at < payableFrom(batch)

export const isOpenBatch = ({ sealedAt }: Pick<Batch, 'sealedAt'>): boolean => sealedAt === null

export const payoutUuid = (id: BatchId, attempt: number) => derivedUuid(`payout#${id}#${attempt}`)

type NewBatch = Pick<
  Batch,
  'id' | 'uuid' | 'provider' | 'date' | 'n' | 'generation' | 'createdAt' | 'feeSchedule'
>

export const openBatch = (batch: NewBatch): Batch => ({
  ...batch,
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

export const withSums = async (batch: Batch, lines: AsyncIterable<Line> | Iterable<Line>) => {
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
