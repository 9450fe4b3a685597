import { type Bank, bankView, type CustomerAccount } from '../domain/bank.ts'
import { type Debit, type State, stateAt } from '../domain/debit.ts'
import { iso } from '../domain/instant.ts'
import { amountNumber, formatAmount, pesewas } from '../domain/money.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { integerId } from '../domain/reference.ts'
import { transactionView } from '../domain/transaction.ts'

/** Debits as the replies to a bank show them: approval methods as the bank itself spells them. */

/** Reply of the bank's update (specification, Update transaction status). */
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

/** Reply of the callback (specification, Debit callback). */
export const callbackView = (debit: Debit) => {
  const state = stateAt(debit)
  return {
    ...transactionView(state, formatAmount),
    approval_method: state.approvalMethod,
  }
}

type BankList = {
  account: CustomerAccount
  bank: Bank
  phone: PhoneNumber
  debits: readonly Debit[]
  names: ReadonlyMap<PartnerId, string>
  filter: string
}

/** Reply of the bank's list (specification, Bank-facing transaction list result). */
export const bankListView = ({ account, bank, phone, debits, names, filter }: BankList) => ({
  customer: account.customerName,
  phone_number: phone,
  bank: bankView(bank),
  transactions: debits.map((debit) => bankItemView(stateAt(debit), account, names)),
  total_count: debits.length,
  total_amount: amountNumber(pesewas(debits.reduce((sum, { facts }) => sum + facts.amount, 0))),
  status_filter: filter,
})

const bankItemView = (
  state: State,
  account: CustomerAccount,
  names: ReadonlyMap<PartnerId, string>,
) => ({
  ...transactionView(state, amountNumber),
  id: integerId(state.reference),
  approval_method: state.approvalMethod,
  metadata: state.metadata,
  account: {
    account_number: account.accountNumber,
    account_name: account.customerName,
    account_type: account.accountType,
  },
  payment_partner: {
    name: names.get(state.partner) ?? state.partner,
    partner_reference: state.partnerReference,
  },
})
