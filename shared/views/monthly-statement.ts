import * as v from 'valibot'
import type { Shows } from '../domain/complete.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import { ProviderId } from '../domain/providers/provider.ts'
import type { FeesOfSchedule, MonthlyStatement } from '../domain/settlement/monthly-statement.ts'
import { Month } from '../domain/time.ts'
import { batchSchema, batchView, feeScheduleSchema, feeScheduleView, totalsView } from './batch.ts'
import * as fields from './fields.ts'

const feesView = ({ feeSchedule, batches, debits, gross, fee }: FeesOfSchedule) =>
  ({
    fee_schedule: feeScheduleView(feeSchedule, formatAmount),
    batches,
    debits,
    gross: formatAmount(gross),
    fee: formatAmount(fee),
  }) satisfies Shows<FeesOfSchedule>

/** Shows the monthly statement of a provider (docs/api.md#monthly-statements). */
export const monthlyStatementView = (statement: MonthlyStatement) => {
  const { totals } = statement
  return {
    provider: statement.provider,
    month: statement.month,
    currency: CURRENCY,
    partial: statement.isPartial,
    ...totalsView(totals, formatAmount),
    paid: formatAmount(statement.paid),
    fees: statement.fees.map(feesView),
    batches: statement.batches.map(batchView),
  } satisfies Shows<MonthlyStatement, 'isPartial' | 'totals'>
}

export type MonthlyStatementResult = ReturnType<typeof monthlyStatementView>

export const monthlyStatementSchema = () => {
  const amount = fields.SignedAmount
  return fields.named(
    'MonthlyStatement',
    v.object({
      provider: ProviderId,
      month: Month,
      currency: v.literal(CURRENCY),
      partial: v.boolean(),
      count: fields.Quantity,
      debits: fields.Quantity,
      gross: amount,
      fee: amount,
      adjustments: amount,
      net: amount,
      paid: amount,
      fees: v.array(
        fields.named(
          'MonthlyFees',
          v.object({
            fee_schedule: v.nullable(feeScheduleSchema(amount)),
            batches: fields.Quantity,
            debits: fields.Quantity,
            gross: amount,
            fee: amount,
          }),
        ),
      ),
      batches: v.array(batchSchema(amount)),
    }),
  )
}
