import * as v from 'valibot'
import { CustomerAccount } from '../../domain/banks/bank.ts'
import { PhoneNumber } from '../../domain/phone.ts'
import { bankOption, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const { customerName, accountNumber, accountType, status } = CustomerAccount.entries

const phone = option('NUMBER', 'such as +233241234567', PhoneNumber)
const one = options({ phone, bank: bankOption })

export const customer = {
  name: 'customer',
  summary: 'accounts of customers, by their phone numbers',
  verbs: {
    link: {
      summary: 'says which account a number has at a bank, in place of what was said before',
      options: options({
        phone,
        bank: bankOption,
        name: option('NAME', 'of the customer', customerName),
        'account-number': option('DIGITS', 'of the account', accountNumber),
        'account-type': v.optional(
          oneOfWords('mobile_money otherwise', accountType),
          'mobile_money',
        ),
        status: v.optional(oneOfWords('active otherwise', status), 'active'),
      }),
    },
    show: { summary: 'the account of a number at one bank', options: one },
    list: { summary: 'the accounts of a number, at every bank', options: options({ phone }) },
    unlink: { summary: 'forgets the account of a number at one bank', options: one },
  },
} as const satisfies Noun
