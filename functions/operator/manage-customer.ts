import * as v from 'valibot'
import { BankIdentifier, CustomerAccount } from '../../shared/domain/bank.ts'
import { PhoneNumber } from '../../shared/domain/phone.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { options } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { findBank, putAccount } from '../../shared/store/banks.ts'

const { customerName, accountNumber, accountType, status } = CustomerAccount.entries

export const handler = operatorHandler({
  link: verb(
    options({
      phone: PhoneNumber,
      bank: BankIdentifier,
      name: customerName,
      'account-number': accountNumber,
      'account-type': v.optional(accountType, 'mobile_money'),
      status: v.optional(status, 'active'),
    }),
    async ({ phone, bank, name, status, ...rest }) => {
      if (!(await findBank(bank))) return new Refusal(1404, { details: 'no such bank' })
      const account: CustomerAccount = {
        customerName: name,
        accountNumber: rest['account-number'],
        accountType: rest['account-type'],
        status,
      }
      await putAccount(phone, bank, account)
      return {
        phone_number: phone,
        bank,
        customer: account.customerName,
        account_number: account.accountNumber,
        account_type: account.accountType,
        status: account.status,
      }
    },
  ),
})
