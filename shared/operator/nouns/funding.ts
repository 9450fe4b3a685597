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
  summary: 'remittances of banks to the service',
  verbs: {
    record: {
      summary: 'records a remittance; a repeated reference changes nothing',
      options: options({
        bank: bankOption,
        amount: option('AMOUNT', 'amount, such as 5000.00', amount),
        reference: option('TEXT', 'the bank’s reference of the remittance', text({ max: 100 })),
        date: option('YYYY-MM-DD', 'UTC day on which the cash arrived', Day),
      }),
    },
    list: {
      summary: 'lists remittances, newest day first',
      options: options({ bank: v.optional(bankOption), limit: newest }),
    },
  },
} as const satisfies Noun
