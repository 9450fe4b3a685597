import {
  type BankIdentifier,
  type CustomerAccount,
  maskAccount,
} from '../../shared/domain/banks/bank.ts'
import { maskPhone, type PhoneNumber } from '../../shared/domain/phone.ts'
import { unlessRefused } from '../../shared/domain/refusal.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/banks.ts'
import { real } from '../../shared/runtime.ts'
import {
  findAccount,
  findBank,
  listAccounts,
  putAccount,
  removeAccount,
} from '../../shared/store/banks/banks.ts'
import { changeRecorder } from '../../shared/store/operator/changes.ts'
import { accountView as view } from '../../shared/views/operator/customer.ts'

const fields = ({ accountNumber, accountType, status, customerName }: CustomerAccount) => ({
  customer: customerName,
  account_number: maskAccount(accountNumber),
  account_type: accountType,
  status,
})

/** Masks the phone number in the change record, as the log does. */
const recorder = (phone: PhoneNumber, bank: BankIdentifier, author: Author) =>
  changeRecorder({ ...author, target: `${maskPhone(phone)} ${bank}`, bank }, fields)

export const manageCustomer = operatorHandler(customer, {
  link: {
    run: async ({ phone, bank, name, status, ...options }, author, runtime) => {
      if (!(await findBank(bank))) return noSuch('bank')
      const account: CustomerAccount = {
        customerName: name,
        accountNumber: options['account-number'],
        accountType: options['account-type'],
        status,
      }
      await putAccount(phone, bank, account, recorder(phone, bank, author), runtime)
      return view(phone, bank, account)
    },
    check: async ({ bank }) => (await findBank(bank)) ?? noSuch('bank'),
  },
  show: async ({ phone, bank }) =>
    unlessRefused((await findAccount(phone, bank)) ?? noSuch('account'), (account) =>
      view(phone, bank, account),
    ),
  list: async ({ phone }) =>
    (await listAccounts(phone)).map(({ bank, account }) => view(phone, bank, account)),
  unlink: async ({ phone, bank }, author, runtime) => {
    const removed = await removeAccount(phone, bank, recorder(phone, bank, author), runtime)
    return removed ? { unlinked: true } : noSuch('account')
  },
})

export const handler = manageCustomer(real)
