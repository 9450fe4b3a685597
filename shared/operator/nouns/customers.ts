import * as v from 'valibot'
import { CustomerAccount } from '../../domain/banks/bank.ts'
import { BulkId } from '../../domain/operator/bulk.ts'
import { text } from '../../domain/text.ts'
import { Instant } from '../../domain/time.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const { customerName, accountNumber, accountType, status } = CustomerAccount.entries
const account = o.options({ phone: o.phone, bank: o.bank })

export const customer = {
  name: 'customer',
  summary: 'bank accounts of customers, by phone number',
  verbs: {
    link: {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'sets the account of a phone number at a bank',
      options: o.options({
        phone: o.phone,
        bank: o.bank,
        name: o.personal('NAME', 'name of the customer', customerName),
        'account-number': o.personal('DIGITS', 'account number', accountNumber),
        'account-type': v.optional(
          o.oneOfWords('account type (default mobile_money)', accountType),
          'mobile_money',
        ),
        status: v.optional(o.oneOfWords('account status (default active)', status), 'active'),
      }),
    },
    import: {
      effect: 'money',
      shows: 'no customer',
      approval: 'always',
      summary: 'adds, changes and removes the accounts of a bank as a file lists them',
      options: o.options({
        bank: o.bank,
        file: o.option(
          'FILE',
          'CSV file with phone, name, account_number, active; -: standard input',
          text({ max: 300 }),
        ),
        bulk: o.optional('ID', 'rows that were uploaded; the command adds it', BulkId),
      }),
    },
    upload: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'stores a part of a file of accounts; the command calls it',
      options: o.options({
        bank: o.bank,
        ...o.part.entries,
        refused: v.optional(
          o.option(
            'N',
            'lines that the command refused',
            o.wholeNumber({ min: 0, max: 9_999_999 }),
          ),
          '0',
        ),
      }),
    },
    show: {
      effect: 'reads',
      shows: 'customers',
      summary: 'shows the account of a phone number at one bank',
      options: account,
    },
    list: {
      effect: 'reads',
      shows: 'customers',
      summary: 'lists the accounts of a phone number at all banks',
      options: o.options({ phone: o.phone }),
    },
    export: {
      effect: 'reads',
      shows: 'customers',
      summary: 'prints accounts, debits, exceptions and recipients of a customer as one document',
      options: o.options({ phone: o.phone }),
    },
    accesses: {
      effect: 'reads',
      shows: 'no customer',
      summary: 'lists who read the data of a customer in the last 90 days, newest first',
      options: o.options({ phone: o.phone, ...o.page }),
    },
    unlink: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'removes the account of a phone number at one bank',
      options: account,
    },
    erase: {
      effect: 'money',
      shows: 'no customer',
      approval: 'always',
      summary: 'removes a customer from all accounts and debits; younger debits follow later',
      options: o.options({ phone: o.phone, reason: o.reason('reason, without names or numbers') }),
    },
    'repeat-erasures': {
      effect: 'money',
      shows: 'no customer',
      approval: 'always',
      summary: 'after a restore, repeats the erasures since the restored second',
      options: o.options({ since: o.option('TIME', 'such as 2026-11-21T09:59:00Z', Instant) }),
    },
  },
} as const satisfies Noun
