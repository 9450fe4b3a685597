import { totals } from '../api/pagination.ts'
import { type Bank, bankView, type CustomerAccount } from '../domain/banks/bank.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { integerId } from '../domain/ids.ts'
import { amountNumber, formatAmount, type Pesewas } from '../domain/money.ts'
import type { Count } from '../domain/page.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { iso } from '../domain/time.ts'
import { transactionView } from './transaction.ts'

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

type BankItem = ReturnType<typeof bankItemView>

type BankList = {
  account: CustomerAccount
  bank: Bank
  phone: PhoneNumber
  transactions: readonly BankItem[]
  /** Absent for a page by cursor. */
  total: (Count & { amount: Pesewas }) | undefined
  filter: string
}

/** Reply of the bank's list (specification, Bank-facing transaction list result). */
export const bankListView = ({ account, bank, phone, transactions, total, filter }: BankList) => ({
  customer: account.customerName,
  phone_number: phone,
  bank: bankView(bank),
  transactions,
  ...(total ? { ...totals(total), total_amount: amountNumber(total.amount) } : {}),
  status_filter: filter,
})

/** A debit in the bank's list. */
export const bankItemView = (
  debit: Debit,
  account: CustomerAccount,
  names: ReadonlyMap<ProviderId, string>,
) => {
  const state = stateAt(debit)
  return {
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
      name: names.get(state.provider) ?? state.provider,
      partner_reference: state.partnerReference,
    },
  }
}
