import { bankView } from '../domain/banks/bank.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { type Refund, refundView } from '../domain/debits/refund.ts'
import { formatAmount } from '../domain/money.ts'
import { iso } from '../domain/time.ts'
import { approvalMethodView, errorDetails, transactionView } from './transaction.ts'

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

/** A debit in the list of its provider, and in the status read. */
export const debitView = (debit: Debit) => {
  const state = stateAt(debit)
  return {
    ...transactionView(state, formatAmount),
    metadata: state.metadata,
    error_details: errorDetails(state),
  }
}

/**
 * Reply of the status read in both published forms (specification, Get transaction status).
 * @param refund of a reversed debit, or of one that the bank completed after it had failed
 */
export const statusView = (debit: Debit, refund: Refund | undefined) => {
  const state = stateAt(debit)
  return {
    ...debitView(debit),
    settlement: debit.settledIn
      ? { batch_id: debit.settledIn, adjusted_in: debit.adjustedIn ?? null }
      : null,
    refund: refund ? refundView(refund, formatAmount) : null,
    response: {
      uuid: state.uuid,
      status: debit.status,
      timestamp: iso(state.updatedAt),
      processed_at: iso(state.processedAt),
      completed_at: iso(state.completedAt),
      bank_reference: state.bankReference,
      approval_method: approvalMethodView(state.approvalMethod),
      error_message: state.errorMessage,
      error_details: errorDetails(state),
    },
  }
}
