import * as v from 'valibot'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'
import { format } from './accounting.ts'

const ACCOUNT =
  /^(?:cash|fee_income|refunds_payable|exceptions|(?:bank_receivable|provider_payable):[A-Za-z0-9_-]+)$/

const ACCOUNTS =
  'cash, fee_income, refunds_payable, exceptions, bank_receivable:BANK or provider_payable:ID'

export const ledger = {
  name: 'ledger',
  summary: 'double-entry journal, derived from debits, batches, refunds and funding',
  shows: 'no customer',
  verbs: {
    show: {
      effect: 'reads',
      summary: 'prints the entries of a day and the balances of its accounts',
      options: o.options({ date: o.day('UTC day'), format }),
    },
    account: {
      effect: 'reads',
      summary: 'prints the statement of an account, with opening and closing balance',
      options: o.options({
        account: o.option(
          'ACCOUNT',
          'such as cash, bank_receivable:GCB or provider_payable:demo',
          v.pipe(v.string(), v.regex(ACCOUNT, `must be an account: ${ACCOUNTS}`)),
        ),
        from: o.day('first UTC day'),
        to: o.day('last UTC day'),
      }),
    },
  },
} as const satisfies Noun
