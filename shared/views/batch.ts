import * as v from 'valibot'
import type { Shows } from '../domain/complete.ts'
import { BatchId, Reference, Uuid } from '../domain/ids.ts'
import { CURRENCY, formatAmount, type Pesewas } from '../domain/money.ts'
import { namesOf } from '../domain/names.ts'
import type { FeeSchedule } from '../domain/providers/fee-schedule.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import {
  type Batch,
  batchStatuses,
  type Line,
  lineTypes,
  payoutDay,
  type Totals,
} from '../domain/settlement/batch.ts'
import { Day, iso } from '../domain/time.ts'
import * as fields from './fields.ts'

/**
 * Shows the sums of a batch: gross and fee of its debits, and its adjustments (docs/api.md#batches).
 * They are null until its reports are written.
 */
export const totalsView = <A>(totals: Totals | null, amountOf: fields.AmountForm<A>) =>
  ({
    count: totals?.count ?? null,
    debits: totals?.debits ?? null,
    gross: totals && amountOf(totals.gross),
    fee: totals && amountOf(totals.fee),
    adjustments: totals && amountOf(totals.adjustments),
    net: totals && amountOf(totals.net),
  }) satisfies Shows<Totals>

const totalsEntries = (amount: v.GenericSchema) => ({
  count: v.nullable(fields.Quantity),
  debits: v.nullable(fields.Quantity),
  gross: v.nullable(amount),
  fee: v.nullable(amount),
  adjustments: v.nullable(amount),
  net: v.nullable(amount),
})

/** Shows the fee schedule of a provider or a batch (docs/api.md#fees); null if it has none. */
export const feeScheduleView = <A>(
  schedule: FeeSchedule | null | undefined,
  amountOf: fields.AmountForm<A>,
) => {
  if (!schedule) return null
  const bound = (amount: Pesewas | undefined) => (amount === undefined ? null : amountOf(amount))
  return {
    basis_points: schedule.basisPoints,
    fixed: amountOf(schedule.fixed),
    minimum: bound(schedule.minimum),
    maximum: bound(schedule.maximum),
  } satisfies Shows<FeeSchedule>
}

export const feeScheduleSchema = (amount: v.GenericSchema) =>
  fields.namedBy(
    amount,
    'FeeSchedule',
    v.object({
      basis_points: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
      fixed: amount,
      minimum: v.nullable(amount),
      maximum: v.nullable(amount),
    }),
  )

/** Shows a batch with amounts in this form (docs/api.md#batches). */
export const batchViewWith = <A>(batch: Batch, amountOf: fields.AmountForm<A>) =>
  ({
    id: batch.id,
    uuid: batch.uuid,
    provider: batch.provider,
    currency: batch.currency,
    date: batch.date,
    status: batch.status,
    ...totalsView(batch.totals, amountOf),
    fee_schedule: feeScheduleView(batch.feeSchedule, amountOf),
    created_at: iso(batch.createdAt),
    sealed_at: iso(batch.sealedAt),
    payable_on: batch.sealedAt && payoutDay(batch),
    processed_at: iso(batch.processedAt),
    completed_at: iso(batch.completedAt),
    failed_at: iso(batch.failedAt),
    failure: batch.failure,
    bank_reference: batch.bankReference,
    paid: batch.paid === null ? null : amountOf(batch.paid),
    made_good_by: batch.offsetBy,
  }) satisfies Shows<
    Batch,
    | 'totals'
    | 'offsetBy'
    // Internal to the service.
    | 'attempt'
    | 'generation'
    | 'completedGeneration'
    | 'sentAt'
    | 'n'
    | 'lanes'
    | 'completedFrom'
    // As `payable_on`.
    | 'payOn'
    | 'reportedAt'
    | 'paidTo'
    | 'paidBy'
    | 'failed'
    | 'offsets'
    | 'outstanding'
    | 'version'
  >

/** Shows a batch in replies and reports. */
export const batchView = (batch: Batch) => batchViewWith(batch, formatAmount)

export type BatchResult = ReturnType<typeof batchView>

export const batchSchema = (amount: v.GenericSchema) =>
  fields.namedBy(
    amount,
    'Settlement',
    v.object({
      id: BatchId,
      uuid: Uuid,
      provider: ProviderId,
      currency: v.literal(CURRENCY),
      date: Day,
      status: fields.named('SettlementStatus', v.picklist(namesOf(batchStatuses))),
      ...totalsEntries(amount),
      fee_schedule: v.nullable(feeScheduleSchema(amount)),
      created_at: fields.Time,
      sealed_at: fields.NullableTime,
      payable_on: v.nullable(Day),
      processed_at: fields.NullableTime,
      completed_at: fields.NullableTime,
      failed_at: fields.NullableTime,
      failure: fields.NullableText,
      bank_reference: fields.NullableText,
      paid: v.nullable(amount),
      made_good_by: v.nullable(BatchId),
    }),
  )

/** Shows a line of a batch in its report (docs/api.md#settlement-reports). */
export const lineView = (line: Line) =>
  ({
    type: line.type,
    reference: line.reference,
    partner_reference: line.partnerReference,
    bank_reference: line.bankReference,
    completed_at: line.completedAt.toISOString(),
    gross: formatAmount(line.gross),
    fee: formatAmount(line.fee),
    net: formatAmount(line.net),
    currency: CURRENCY,
  }) satisfies Shows<Line, 'bank'>

/** The report of a batch, which is written as text, line by line. */
export type SettlementReport = {
  batch: BatchResult
  lines: ReturnType<typeof lineView>[]
  totals: ReturnType<typeof totalsView<string>>
}

export const reportSchema = () =>
  fields.named(
    'SettlementReport',
    v.object({
      batch: batchSchema(fields.SignedAmount),
      lines: v.array(
        fields.named(
          'SettlementLine',
          v.object({
            type: v.picklist(lineTypes),
            reference: Reference,
            partner_reference: v.string(),
            bank_reference: fields.NullableText,
            completed_at: fields.Time,
            currency: v.literal(CURRENCY),
            gross: fields.SignedAmount,
            fee: fields.SignedAmount,
            net: fields.SignedAmount,
          }),
        ),
      ),
      totals: fields.named('SettlementTotals', v.object(totalsEntries(fields.SignedAmount))),
    }),
  )
