import * as v from 'valibot'
import { Reference } from '../../domain/reference.ts'
import { text } from '../../domain/text.ts'
import { choice, newest, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = option('REFERENCE', 'of the debit', Reference)

export const exception = {
  summary: 'debits that a bank took after they had failed here, which somebody must give back',
  verbs: {
    list: {
      summary: 'the newest, over all providers',
      options: options({
        status: v.optional(choice('only these of them', { options: ['open', 'resolved'] })),
        limit: newest,
      }),
    },
    show: { summary: 'what a bank reported of one debit', options: options({ reference }) },
    resolve: {
      summary: 'notes that the money was given back; nothing else is changed',
      options: options({
        reference,
        note: option('TEXT', 'how, for whoever reads it later', text({ max: 200 })),
      }),
    },
  },
} as const satisfies Noun
