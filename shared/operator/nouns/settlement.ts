import * as v from 'valibot'
import { BankReference } from '../../domain/debits/bank-update.ts'
import { CURRENCY } from '../../domain/money.ts'
import { BatchId } from '../../domain/settlement/batch.ts'
import { reportFormats } from '../../domain/settlement/list-query.ts'
import { text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import { newest, oneOfWords, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const batch = option('ID', 'such as STL-20261122-6NN1EZ', BatchId)
const one = options({ batch })

export const settlement = {
  name: 'settlement',
  summary: 'what providers are paid',
  verbs: {
    run: {
      summary: 'acts as the run of a day: builds its batches, and pays those that are due',
      options: options({
        date: option('YYYY-MM-DD', 'the day', Day),
        provider: v.optional(providerOption),
        currency: v.optional(option(CURRENCY, 'the only one', v.string()), CURRENCY),
      }),
    },
    list: {
      summary: 'a provider’s batches',
      options: options({ provider: providerOption, limit: newest }),
    },
    show: { summary: 'one batch', options: one },
    report: {
      summary: 'its lines, as the provider reads them',
      options: options({
        batch,
        format: v.optional(oneOfWords('json otherwise', { options: reportFormats }), 'json'),
      }),
    },
    process: { summary: 'pays a batch at once, before its day', options: one },
    complete: {
      summary:
        'records that a bank has paid a batch, as the bank reported outside the API; pays nothing',
      options: options({
        batch,
        'bank-reference': option('TEXT', 'the bank’s reference of the payment', BankReference),
        reason: option('TEXT', 'why, and who said so', text({ max: 200 })),
      }),
      approval: 'always',
    },
    retry: {
      summary: 'pays a batch again that its bank rejected',
      options: one,
      approval: 'always',
    },
  },
} as const satisfies Noun
