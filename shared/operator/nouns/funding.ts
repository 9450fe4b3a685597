import * as v from 'valibot'
import { text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import { bankOption, money, newest, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const amount = v.pipe(
  money,
  v.check((pesewas) => pesewas > 0, 'must be above zero'),
)

export const funding = {
  name: 'funding',
  summary: 'cash that banks have remitted to the service',
  verbs: {
    record: {
      summary: 'records a remittance; a repeated reference of a bank changes nothing',
      options: options({
        bank: bankOption,
        amount: option('AMOUNT', 'such as 5000.00', amount),
        reference: option('TEXT', 'the bank’s own reference', text({ max: 100 })),
        date: option('YYYY-MM-DD', 'the UTC day on which the cash arrived', Day),
      }),
    },
    list: {
      summary: 'lists the newest remittances, by the day on which they arrived',
      options: options({ bank: v.optional(bankOption), limit: newest }),
    },
  },
} as const satisfies Noun
