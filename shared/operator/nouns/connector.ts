import * as v from 'valibot'
import { ConnectorName } from '../../domain/banks/bank.ts'
import { bankOption, oneOfWords, option, options, secretOption, secretText } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const connectorUrl = option('URL', 'base URL of the bank, for connector http', v.string())

export const connectorSecret = secretOption(
  'secret that signs requests to the bank, from standard input (default: generated)',
  secretText,
)

const target = options({ bank: bankOption })

export const connector = {
  name: 'connector',
  summary: 'connections to banks',
  verbs: {
    set: {
      summary: 'sets the connector of a bank, or its URL or secret',
      options: options({
        bank: bankOption,
        connector: v.optional(oneOfWords('connector (default: unchanged)', ConnectorName)),
        'connector-url': v.optional(connectorUrl),
        'connector-secret': v.optional(connectorSecret),
      }),
      approval: 'always',
    },
    show: { summary: 'shows the connector of a bank, without its secret', options: target },
    list: { summary: 'lists the connectors of all banks', options: options({}) },
    remove: {
      summary: 'removes the connector of a bank with its URL and secret; charges are refused',
      options: target,
      approval: 'always',
    },
  },
} as const satisfies Noun
