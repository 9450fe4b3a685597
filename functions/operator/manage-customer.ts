import type { BankIdentifier, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { maskAccount } from '../../shared/domain/operator/change.ts'
import { maskPhone, type PhoneNumber } from '../../shared/domain/phone.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/customer.ts'
import { real } from '../../shared/runtime.ts'
import {
  findAccount,
  findBank,
  listAccounts,
  putAccount,
  removeAccount,
} from '../../shared/store/banks/banks.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'

const view = (
  phone: PhoneNumber,
  bank: BankIdentifier | string,
  { customerName, accountNumber, accountType, status }: CustomerAccount,
) => ({
  phone_number: phone,
  bank,
  customer: customerName,
  account_number: accountNumber,
  account_type: accountType,
  status,
})

/** The record of a change names a customer as the log does: enough to recognise, not enough to call. */
const recording = (phone: PhoneNumber, bank: BankIdentifier, author: Author) => ({
  ...author,
  target: `${maskPhone(phone)} ${bank}`,
  bank,
})

const fields = ({ accountNumber, accountType, status, customerName }: CustomerAccount) => ({
  customer: customerName,
  account_number: maskAccount(accountNumber),
  account_type: accountType,
  status,
})

const unknown = () => new Refusal(1404, { details: 'no such account' })

export const handler = operatorHandler(customer, {
  link: async ({ phone, bank, name, status, ...rest }, author) => {
    if (!(await findBank(bank))) return new Refusal(1404, { details: 'no such bank' })
    const account: CustomerAccount = {
      customerName: name,
      accountNumber: rest['account-number'],
      accountType: rest['account-type'],
      status,
    }
    await putAccount(
      phone,
      bank,
      account,
      (before, after) =>
        changeWrites(recording(phone, bank, author), before && fields(before), fields(after)),
      real,
    )
    return view(phone, bank, account)
  },
  show: async ({ phone, bank }) => {
    const account = await findAccount(phone, bank)
    return account ? view(phone, bank, account) : unknown()
  },
  list: async ({ phone }) =>
    (await listAccounts(phone)).map(({ bank, account }) => view(phone, bank, account)),
  unlink: async ({ phone, bank }, author) => {
    const removed = await removeAccount(
      phone,
      bank,
      (before) => changeWrites(recording(phone, bank, author), fields(before), undefined),
      real,
    )
    return removed ? { unlinked: true } : unknown()
  },
})
