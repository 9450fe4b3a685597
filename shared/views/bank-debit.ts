import * as v from 'valibot'
import type { Bank, CustomerAccount } from '../domain/banks/bank.ts'
import { type Debit, type State, stateAt } from '../domain/debits/debit.ts'
import { bankFilters } from '../domain/debits/list-query.ts'
import { integerId, Reference, Uuid } from '../domain/ids.ts'
import { amountNumber, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Count } from '../domain/page.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { iso } from '../domain/time.ts'
import { bankSchema, bankView } from './bank.ts'
import {
  type AmountForm,
  AmountText,
  FreeForm,
  IntegerId,
  NullableText,
  named,
  Phone,
  Time,
} from './fields.ts'
import { countEntries, countView } from './page.ts'
import { debitStatusSchema, transactionEntries, transactionView } from './transaction.ts'

/** Views of a debit for its bank, with approval methods in the bank's spelling (docs/api.md#approval-methods). */

const bankApprovalSchema = () => v.nullable(v.picklist(['ussd', 'mobile_api', 'web', 'direct']))

/** Shows a debit in the reply to a bank report (docs/api.md#bank-reports). */
export const bankUpdateView = (debit: Debit) => {
  const state = stateAt(debit)
  return {
    id: integerId(state.reference),
    uuid: state.uuid,
    reference: state.reference,
    status: debit.status,
    approval_method: state.approvalMethod,
    bank_reference: state.bankReference,
    error_message: state.errorMessage,
    fee: state.fee === null ? null : formatAmount(state.fee),
    updated_at: iso(state.updatedAt),
  }
}

export const bankUpdateSchema = () =>
  named(
    'ReportedTransaction',
    v.object({
      id: IntegerId,
      uuid: Uuid,
      reference: Reference,
      status: debitStatusSchema(),
      approval_method: bankApprovalSchema(),
      bank_reference: NullableText,
      error_message: NullableText,
      fee: v.nullable(AmountText),
      updated_at: Time,
    }),
  )

/** A bank sees the whole number of its own account. */
const ownTransaction = <A>(state: State, amountOf: AmountForm<A>) => {
  const { customer, ...others } = transactionView(state, amountOf)
  return {
    ...others,
    approval_method: state.approvalMethod,
    customer: { ...customer, account_number: state.accountNumber },
  }
}

/** Shows a debit in the reply to a bank callback (docs/api.md#callback). */
export const callbackView = (debit: Debit) => {
  const state = stateAt(debit)
  return ownTransaction(state, formatAmount)
}

export const callbackSchema = () =>
  named(
    'CallbackTransaction',
    v.object({
      ...transactionEntries(debitStatusSchema(), AmountText),
      approval_method: bankApprovalSchema(),
    }),
  )

/** Shows a debit in the bank list, with its own account if it has one (docs/api.md#bank-list). */
export const bankItemView = (
  debit: Debit,
  account: CustomerAccount,
  names: ReadonlyMap<ProviderId, string>,
) => {
  const state = stateAt(debit)
  return {
    ...ownTransaction(state, amountNumber),
    id: integerId(state.reference),
    metadata: state.metadata,
    account: {
      account_number: state.accountNumber ?? account.accountNumber,
      account_name: state.customerName ?? account.customerName,
      account_type: account.accountType,
    },
    payment_partner: {
      name: names.get(state.provider) ?? state.provider,
      partner_reference: state.partnerReference,
    },
  }
}

type BankList = {
  account: CustomerAccount
  bank: Bank
  phone: PhoneNumber
  transactions: readonly ReturnType<typeof bankItemView>[]
  /** Undefined for a page by cursor. */
  total: (Count & { amount: Pesewas }) | undefined
  filter: string
}

/** Shows a page of the bank list (docs/api.md#bank-list). */
export const bankListView = ({ account, bank, phone, transactions, total, filter }: BankList) => ({
  customer: account.customerName,
  phone_number: phone,
  bank: bankView(bank),
  transactions,
  ...(total ? { ...countView(total), total_amount: amountNumber(total.amount) } : {}),
  status_filter: filter,
})

export const bankListSchema = () =>
  named(
    'BankTransactionList',
    v.object({
      customer: v.string(),
      phone_number: Phone,
      bank: bankSchema(),
      transactions: v.array(
        named(
          'BankTransaction',
          v.object({
            ...transactionEntries(debitStatusSchema(), v.number()),
            id: IntegerId,
            approval_method: bankApprovalSchema(),
            metadata: v.nullable(FreeForm),
            account: named(
              'CustomerAccount',
              v.object({
                account_number: v.string(),
                account_name: v.string(),
                account_type: v.string(),
              }),
            ),
            payment_partner: v.object({ name: v.string(), partner_reference: v.string() }),
          }),
        ),
      ),
      total_count: countEntries().total_count,
      total_amount: v.optional(v.number()),
      total_is_at_least: countEntries().total_is_at_least,
      status_filter: named('BankStatusFilter', v.picklist(bankFilters)),
    }),
  )
