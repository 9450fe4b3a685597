import type { BankIdentifier, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { maskAccount } from '../../shared/domain/operator/change.ts'
import { maskPhone, type PhoneNumber } from '../../shared/domain/phone.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/customer.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
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

/** Masks the phone number in the change record, as the log does. */
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

export const manageCustomer = (runtime: Runtime) =>
  operatorHandler(
    customer,
    {
      link: async ({ phone, bank, name, status, ...options }, author) => {
        if (!(await findBank(bank))) return noSuch('bank')
        const account: CustomerAccount = {
          customerName: name,
          accountNumber: options['account-number'],
          accountType: options['account-type'],
          status,
        }
        await putAccount(
          phone,
          bank,
          account,
          (previous, next) =>
            changeWrites(
              recording(phone, bank, author),
              previous && fields(previous),
              fields(next),
            ),
          runtime,
        )
        return view(phone, bank, account)
      },
      show: async ({ phone, bank }) => {
        const account = await findAccount(phone, bank)
        return account ? view(phone, bank, account) : noSuch('account')
      },
      list: async ({ phone }) =>
        (await listAccounts(phone)).map(({ bank, account }) => view(phone, bank, account)),
      unlink: async ({ phone, bank }, author) => {
        const removed = await removeAccount(
          phone,
          bank,
          (previous) => changeWrites(recording(phone, bank, author), fields(previous), undefined),
          runtime,
        )
        return removed ? { unlinked: true } : noSuch('account')
      },
    },
    runtime,
  )

export const handler = manageCustomer(real)
