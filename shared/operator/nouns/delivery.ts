import * as v from 'valibot'
import { Reference } from '../../domain/ids.ts'
import { Instant } from '../../domain/time.ts'
import { newest, oneOfWords, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const deliveryStatuses = ['pending', 'delivered', 'failed', 'abandoned'] as const

const target = options({ id: option('ID', 'delivery id', v.string()) })

export const delivery = {
  name: 'delivery',
  summary: 'deliveries of events to webhooks',
  verbs: {
    list: {
      summary: 'lists the deliveries of a debit with their attempts, or the newest of a provider',
      options: options({
        reference: v.optional(option('REFERENCE', 'reference of the debit', Reference)),
        provider: v.optional(providerOption),
        status: v.optional(
          oneOfWords('only deliveries in this status, with --provider', {
            options: deliveryStatuses,
          }),
        ),
        limit: newest,
      }),
    },
    redeliver: { summary: 'delivers an event again', options: target },
    recover: {
      summary: 'redelivers all undelivered events of a provider since a time',
      options: options({
        provider: providerOption,
        since: option('TIME', 'at most 14 days ago, such as 2026-11-20T18:00:00Z', Instant),
      }),
    },
  },
} as const satisfies Noun
