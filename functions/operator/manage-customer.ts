import type { BankIdentifier, CustomerAccount } from '../../shared/domain/bank.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/customer.ts'
import {
  findAccount,
  findBank,
  listAccounts,
  putAccount,
  removeAccount,
} from '../../shared/store/banks.ts'

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

const unknown = () => new Refusal(1404, { details: 'no such account' })

export const handler = operatorHandler(customer, {
  link: async ({ phone, bank, name, status, ...rest }) => {
    if (!(await findBank(bank))) return new Refusal(1404, { details: 'no such bank' })
    const account: CustomerAccount = {
      customerName: name,
      accountNumber: rest['account-number'],
      accountType: rest['account-type'],
      status,
    }
    await putAccount(phone, bank, account)
    return view(phone, bank, account)
  },
  show: async ({ phone, bank }) => {
    const account = await findAccount(phone, bank)
    return account ? view(phone, bank, account) : unknown()
  },
  list: async ({ phone }) =>
    (await listAccounts(phone)).map(({ bank, account }) => view(phone, bank, account)),
  unlink: async ({ phone, bank }) =>
    (await removeAccount(phone, bank)) ? { unlinked: true } : unknown(),
})
