import { bankView } from '../domain/banks/bank.ts'
import type { State } from '../domain/debits/debit.ts'
import { debitId } from '../domain/ids.ts'
import { CURRENCY, type Pesewas } from '../domain/money.ts'
import { iso } from '../domain/time.ts'

/** A debit as providers see it, in webhooks, lists and callbacks (specification, Debit transaction). */

/** Amounts are numbers in webhooks and in the bank's list, text with two decimals elsewhere. */
export type AmountForm = (amount: Pesewas) => unknown

/** Provider-side spelling of how the customer approved (specification, Enumerations). */
export const approvalMethodView = (method: State['approvalMethod']): string | null =>
  method === 'mobile_api' ? 'mobile_app' : method

/** Why a debit failed (specification, Event types); null for one that has not failed. */
export const errorDetails = ({ status, errorMessage, errorCode }: State) =>
  status === 'failed' ? { message: errorMessage, code: errorCode } : null

export const transactionView = (state: State, amountOf: AmountForm) => ({
  id: debitId(state.reference),
  uuid: state.uuid,
  reference: state.reference,
  partner_reference: state.partnerReference,
  status: state.status,
  amount: amountOf(state.amount),
  currency: CURRENCY,
  fee: state.fee === null ? null : amountOf(state.fee),
  narration: state.narration,
  approval_method: approvalMethodView(state.approvalMethod),
  bank_reference: state.bankReference,
  error_message: state.errorMessage,
  created_at: iso(state.createdAt),
  processed_at: iso(state.processedAt),
  completed_at: iso(state.completedAt),
  bank: bankView(state.bank),
  customer: {
    name: state.customerName,
    phone_number: state.phone,
    account_number: state.accountNumber,
  },
})
