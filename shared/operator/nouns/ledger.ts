import * as v from 'valibot'
import { Day } from '../../domain/time.ts'
import { oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const ledger = {
  name: 'ledger',
  summary: 'double-entry journal, derived from debits, batches, refunds and funding',
  verbs: {
    show: {
      summary: 'prints the entries of a day and the balances of its accounts',
      options: options({
        date: option('YYYY-MM-DD', 'UTC day', Day),
        format: v.optional(
          oneOfWords('output format (default json)', { options: ['json', 'csv'] }),
          'json',
        ),
      }),
    },
  },
} as const satisfies Noun
