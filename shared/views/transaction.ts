import * as v from 'valibot'
import { maskAccount } from '../domain/banks/bank.ts'
import { failureCodes } from '../domain/banks/failure-code.ts'
import type { Shows } from '../domain/complete.ts'
import type { State } from '../domain/debits/debit.ts'
import { debitEventTypes, isOpen, statuses } from '../domain/debits/lifecycle.ts'
import { debitId, Reference, Uuid } from '../domain/ids.ts'
import { CURRENCY } from '../domain/money.ts'
import { iso } from '../domain/time.ts'
import { bankSchema, bankView } from './bank.ts'
import { type AmountForm, NullableText, NullableTime, named, Phone, Time } from './fields.ts'

/** Converts an approval method to the spelling that providers read (docs/api.md#approval-methods). */
export const approvalMethodView = (method: State['approvalMethod']): string | null =>
  method === 'mobile_api' ? 'mobile_app' : method

export const approvalMethodSchema = () =>
  v.nullable(v.picklist(['ussd', 'mobile_app', 'web', 'direct']))

/** Shows why a debit failed (docs/api.md#failure-codes); null for statuses without failure. */
export const errorDetails = ({ status, errorMessage, errorCode }: State) =>
  debitEventTypes[status].adds === 'error_details'
    ? { message: errorMessage, code: errorCode }
    : null

export const errorDetailsSchema = () =>
  named(
    'FailureDetails',
    v.object({ message: NullableText, code: named('FailureCode', v.picklist(failureCodes)) }),
  )

/** Shows a debit to its provider in webhooks, lists and reads (docs/api.md#debit-fields). */
export const transactionView = <A>(state: State, amountOf: AmountForm<A>) =>
  ({
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
      account_number: state.accountNumber && maskAccount(state.accountNumber),
    },
  }) satisfies Shows<
    State,
    // Views that contain this one show more.
    | 'metadata'
    | 'errorCode'
    | 'previousStatus'
    | 'updatedAt'
    | 'customerName'
    | 'phone'
    | 'accountNumber'
    | 'provider'
    | 'providerName'
    | 'countedOn'
    | 'refund'
  >

/** The extension `x-final` lists the statuses without timeouts, for clients that wait. */
export const debitStatusSchema = () => {
  const final = statuses.filter((status) => !isOpen(status))
  return named('DebitStatus', v.pipe(v.picklist(statuses), v.metadata({ 'x-final': final })))
}

export const transactionEntries = (status: v.GenericSchema, amount: v.GenericSchema) => ({
  id: v.pipe(v.string(), v.regex(/^dt_[0-9]+$/)),
  uuid: Uuid,
  reference: Reference,
  partner_reference: v.string(),
  status,
  amount,
  currency: v.literal(CURRENCY),
  fee: v.nullable(amount),
  narration: NullableText,
  approval_method: approvalMethodSchema(),
  bank_reference: NullableText,
  error_message: NullableText,
  created_at: Time,
  processed_at: NullableTime,
  completed_at: NullableTime,
  bank: bankSchema(),
  customer: named(
    'Customer',
    v.object({ name: NullableText, phone_number: v.nullable(Phone), account_number: NullableText }),
  ),
})
