import * as v from 'valibot'
import { CustomerAccount } from '../../domain/banks/bank.ts'
import { PhoneNumber } from '../../domain/phone.ts'
import { bankOption, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const { customerName, accountNumber, accountType, status } = CustomerAccount.entries

const phone = option('NUMBER', 'phone number, such as +233241234567', PhoneNumber)
const target = options({ phone, bank: bankOption })

export const customer = {
  name: 'customer',
  summary: 'bank accounts of customers, by phone number',
  verbs: {
    link: {
      summary: 'sets the account of a phone number at a bank',
      options: options({
        phone,
        bank: bankOption,
        name: option('NAME', 'name of the customer', customerName),
        'account-number': option('DIGITS', 'account number', accountNumber),
        'account-type': v.optional(
          oneOfWords('account type (default mobile_money)', accountType),
          'mobile_money',
        ),
        status: v.optional(oneOfWords('account status (default active)', status), 'active'),
      }),
    },
    show: { summary: 'shows the account of a phone number at one bank', options: target },
    list: {
      summary: 'lists the accounts of a phone number at all banks',
      options: options({ phone }),
    },
    unlink: { summary: 'removes the account of a phone number at one bank', options: target },
  },
} as const satisfies Noun
