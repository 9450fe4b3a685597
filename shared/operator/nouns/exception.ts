import * as v from 'valibot'
import { exceptionKinds } from '../../domain/debits/exception.ts'
import { Reference } from '../../domain/ids.ts'
import { text } from '../../domain/text.ts'
import { newest, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = option('REFERENCE', 'reference of the debit', Reference)
const kind = v.optional(oneOfWords('only exceptions of this kind', { options: exceptionKinds }))

export const exception = {
  name: 'exception',
  summary: 'rejected bank reports and failed refunds that an operator must resolve',
  verbs: {
    list: {
      summary: 'lists exceptions of all providers with the original reports, newest first',
      options: options({
        status: v.optional(
          oneOfWords('only open or only resolved exceptions', { options: ['open', 'resolved'] }),
        ),
        kind,
        limit: newest,
      }),
    },
    show: { summary: 'shows the exceptions of one debit', options: options({ reference }) },
    refund: {
      summary: 'refunds a late completion or retries a failed refund, and resolves its exceptions',
      options: options({
        reference,
        reason: v.optional(option('TEXT', 'reason; the bank can read it', text({ max: 200 }))),
      }),
      approval: 'always',
    },
    resolve: {
      summary: 'marks the open exceptions of a debit as resolved; changes nothing else',
      options: options({
        reference,
        kind,
        note: option('TEXT', 'resolution', text({ max: 200 })),
      }),
    },
  },
} as const satisfies Noun
