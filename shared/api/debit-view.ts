import { bankView } from '../domain/bank.ts'
import { type Debit, stateAt } from '../domain/debit.ts'
import { iso } from '../domain/instant.ts'
import { CURRENCY, formatAmount } from '../domain/money.ts'
import { debitId } from '../domain/reference.ts'
import { approvalMethodView } from '../domain/transaction.ts'

/** A debit as the replies to its provider show it. */

/** Reply of the charge (specification, Create debit request). */
export const chargeView = (debit: Debit) => {
  const { reference, uuid, bank } = debit.facts
  return {
    reference,
    status: debit.status,
    response: {
      uuid,
      status: debit.status,
      timestamp: iso(stateAt(debit).updatedAt),
      reference,
      bank: bankView(bank),
    },
  }
}

/** Reply of the status read: both published forms side by side (specification, Get transaction status). */
export const statusView = (debit: Debit) => {
  const state = stateAt(debit)
  return {
    id: debitId(state.reference),
    uuid: state.uuid,
    reference: state.reference,
    status: debit.status,
    amount: formatAmount(state.amount),
    currency: CURRENCY,
    created_at: iso(state.createdAt),
    completed_at: iso(state.completedAt),
    settlement: debit.settledIn
      ? { batch_id: debit.settledIn, adjusted_in: debit.adjustedIn ?? null }
      : null,
    response: {
      uuid: state.uuid,
      status: debit.status,
      timestamp: iso(state.updatedAt),
      processed_at: iso(state.processedAt),
      completed_at: iso(state.completedAt),
      bank_reference: state.bankReference,
      approval_method: approvalMethodView(state.approvalMethod),
      error_message: state.errorMessage,
    },
  }
}
