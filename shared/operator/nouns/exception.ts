import * as v from 'valibot'
import { exceptionKinds } from '../../domain/debits/exception.ts'
import { Reference } from '../../domain/ids.ts'
import { text } from '../../domain/text.ts'
import { newest, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = option('REFERENCE', 'the reference of the debit', Reference)
const kind = v.optional(oneOfWords('only this kind', { options: exceptionKinds }))

export const exception = {
  name: 'exception',
  summary: 'rejected bank reports and failed refunds that an operator must resolve',
  verbs: {
    list: {
      summary: 'lists the newest exceptions of all providers with the original reports',
      options: options({
        status: v.optional(
          oneOfWords('only open or only resolved ones', { options: ['open', 'resolved'] }),
        ),
        kind,
        limit: newest,
      }),
    },
    show: { summary: 'shows the exceptions of one debit', options: options({ reference }) },
    refund: {
      summary:
        'refunds a late completion, or retries a refund that failed; resolves its exceptions',
      options: options({
        reference,
        reason: v.optional(option('TEXT', 'why; the bank reads it', text({ max: 200 }))),
      }),
      approval: 'always',
    },
    resolve: {
      summary: 'marks the open exceptions of a debit as resolved; changes nothing else',
      options: options({
        reference,
        kind,
        note: option('TEXT', 'how it was resolved', text({ max: 200 })),
      }),
    },
  },
} as const satisfies Noun
