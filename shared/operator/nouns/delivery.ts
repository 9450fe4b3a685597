import * as v from 'valibot'
import { Reference } from '../../domain/ids.ts'
import { Instant } from '../../domain/time.ts'
import { newest, oneOfWords, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed', 'abandoned'] as const

const one = options({ id: option('ID', 'the delivery’s id', v.string()) })

export const delivery = {
  name: 'delivery',
  summary: 'events on their way to providers',
  verbs: {
    list: {
      summary: 'those of a debit with their attempts, or the newest of a provider',
      options: options({
        reference: v.optional(option('REFERENCE', 'of the debit', Reference)),
        provider: v.optional(providerOption),
        status: v.optional(
          oneOfWords('of a provider’s, only these', { options: deliveryStatuses }),
        ),
        limit: newest,
      }),
    },
    redeliver: { summary: 'delivers one once more', options: one },
    recover: {
      summary: 'delivers what a provider did not receive since a time',
      options: options({
        provider: providerOption,
        since: option('TIME', 'at most 14 days ago, such as 2026-11-20T18:00:00Z', Instant),
      }),
    },
  },
} as const satisfies Noun
