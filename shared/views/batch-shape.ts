import * as v from 'valibot'
import { Reference, Uuid } from '../domain/ids.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import { BatchId } from '../domain/settlement/batch.ts'
import { Day } from '../domain/time.ts'
import { Time } from './transaction-shape.ts'

/** What settlement-view.ts shows, as schemas: for the description of the API. */

/** Text with two decimals; below zero with a sign. */
export const SignedAmount = v.pipe(v.string(), v.regex(/^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$/))

const count = v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))

const totals = (amount: v.GenericSchema) => ({
  count,
  debits: count,
  gross: v.nullable(amount),
  fee: v.nullable(amount),
  adjustments: v.nullable(amount),
  net: v.nullable(amount),
})

/** The schedule that the lines without a fee of their bank follow; null: the provider had none. */
const feeSchedule = (amount: v.GenericSchema) =>
  v.nullable(
    v.object({
      basis_points: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
      fixed: amount,
      minimum: v.nullable(amount),
      maximum: v.nullable(amount),
    }),
  )

/** @param amount a number in webhooks, text in replies */
export const batchShape = (amount: v.GenericSchema) =>
  v.object({
    id: BatchId,
    uuid: Uuid,
    provider: ProviderId,
    currency: v.literal('GHS'),
    date: Day,
    status: v.picklist(['pending', 'processing', 'completed', 'failed']),
    ...totals(amount),
    fee_schedule: feeSchedule(amount),
    created_at: Time,
    sealed_at: v.nullable(Time),
    processed_at: v.nullable(Time),
    completed_at: v.nullable(Time),
    failed_at: v.nullable(Time),
    failure: v.nullable(v.string()),
    bank_reference: v.nullable(v.string()),
    paid: v.nullable(amount),
    made_good_by: v.nullable(BatchId),
  })

export const lineShape = v.object({
  type: v.picklist(['debit', 'adjustment']),
  reference: Reference,
  partner_reference: v.string(),
  bank_reference: v.nullable(v.string()),
  completed_at: Time,
  currency: v.literal('GHS'),
  gross: SignedAmount,
  fee: SignedAmount,
  net: SignedAmount,
})

export const totalsShape = v.object(totals(SignedAmount))
