import { type Debit, stateAt } from '../debits/debit.ts'
import { pesewas } from '../money.ts'
import type { FeeSchedule } from '../providers/fee-schedule.ts'
import type { Line } from './batch.ts'
import { split } from './fee.ts'

/** Returns the line of a completed debit. The bank's fee takes precedence over the provider's schedule. */
export const debitLine = (debit: Debit, schedule: FeeSchedule | null | undefined): Line => {
  const { reference, partnerReference, amount, bankReference, completedAt, fee, bank } =
    stateAt(debit)
  if (!completedAt) throw new Error(`Debit ${reference} was never completed`)
  return {
    type: 'debit',
    reference,
    partnerReference,
    bankReference,
    bank: bank.identifier,
    completedAt,
    gross: amount,
    ...split(amount, fee ?? schedule ?? undefined),
  }
}

/** Returns the adjustment of a settled debit: its line with negative amounts. */
export const adjustmentLine = (original: Line): Line => ({
  ...original,
  type: 'adjustment',
  gross: pesewas(-original.gross),
  fee: pesewas(-original.fee),
  net: pesewas(-original.net),
})
