import { type Debit, stateAt } from '../debits/debit.ts'
import { pesewas } from '../money.ts'
import type { Line } from './batch.ts'
import { split } from './fee.ts'
import type { FeeSchedule } from './fee-schedule.ts'

/** The lines that debits get in settlement batches; each is rounded once. */

/** The line of a completed debit; the bank's own fee goes before the provider's schedule. */
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

/** The line that takes a settled debit back: the original one, negative. */
export const adjustmentLine = (original: Line): Line => ({
  ...original,
  type: 'adjustment',
  gross: pesewas(-original.gross),
  fee: pesewas(-original.fee),
  net: pesewas(-original.net),
})
