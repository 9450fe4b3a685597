import * as v from 'valibot'
import { ConnectorName } from '../../domain/bank.ts'
import { bankOption, choice, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const connectorUrl = option(
  'URL',
  'where the endpoint of a bank with connector http begins',
  v.string(),
)

export const connectorSecret = option(
  'SECRET',
  'what requests to it are signed with; made and shown once otherwise',
  v.pipe(v.string(), v.regex(/^[!-~]{16,200}$/, 'must be 16 to 200 characters without blanks')),
)

const one = options({ bank: bankOption })

export const connector = {
  name: 'connector',
  summary: 'how banks are spoken to',
  verbs: {
    set: {
      summary: 'gives a bank another connector, or its connector another URL or secret',
      options: options({
        bank: bankOption,
        connector: v.optional(choice('what it was otherwise', ConnectorName)),
        'connector-url': v.optional(connectorUrl),
        'connector-secret': v.optional(connectorSecret),
      }),
    },
    show: { summary: 'a bank’s connector, without its secret', options: one },
    list: { summary: 'the connector of every bank', options: options({}) },
    remove: {
      summary: 'leaves a bank without one, and forgets URL and secret: it cannot be charged',
      options: one,
    },
  },
} as const satisfies Noun
