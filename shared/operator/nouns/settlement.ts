import * as v from 'valibot'
import { BankReference } from '../../domain/debits/bank-update.ts'
import { CURRENCY } from '../../domain/money.ts'
import { BatchId } from '../../domain/settlement/batch.ts'
import { reportFormats } from '../../domain/settlement/list-query.ts'
import { text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import { newest, oneOfWords, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const batch = option('ID', 'batch id, such as STL-20261122-6NN1EZ', BatchId)
const target = options({ batch })

export const settlement = {
  name: 'settlement',
  summary: 'settlement batches and payouts',
  verbs: {
    run: {
      summary: 'runs the settlement of a day: builds its batches and pays due batches',
      options: options({
        date: option('YYYY-MM-DD', 'UTC day of the run', Day),
        provider: v.optional(providerOption),
        currency: v.optional(option(CURRENCY, 'currency', v.string()), CURRENCY),
      }),
    },
    list: {
      summary: 'lists the batches of a provider, newest first',
      options: options({ provider: providerOption, limit: newest }),
    },
    show: { summary: 'shows a batch', options: target },
    report: {
      summary: 'prints the lines of a batch as the provider reads them',
      options: options({
        batch,
        format: v.optional(
          oneOfWords('output format (default json)', { options: reportFormats }),
          'json',
        ),
      }),
    },
    process: { summary: 'pays a batch immediately, also before its day', options: target },
    complete: {
      summary: 'records a payout that a bank reported outside the API; pays nothing',
      options: options({
        batch,
        'bank-reference': option('TEXT', 'the bank’s reference of the payout', BankReference),
        reason: option('TEXT', 'reason and source', text({ max: 200 })),
      }),
      approval: 'always',
    },
    retry: {
      summary: 'pays a batch again after its bank rejected the payout',
      options: target,
      approval: 'always',
    },
  },
} as const satisfies Noun
