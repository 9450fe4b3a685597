import * as v from 'valibot'
import { Bank, ConnectorName } from '../../domain/banks/bank.ts'
import { text } from '../../domain/text.ts'
import { bankOption, money, oneOfWords, option, options, orNothing } from '../options.ts'
import type { Noun } from '../verbs.ts'
import { connectorSecret, connectorUrl } from './connector.ts'

const name = option('NAME', 'display name', text({ max: 100 }))

const settings = {
  connector: v.optional(oneOfWords('connector', ConnectorName)),
  'connector-url': v.optional(connectorUrl),
  'connector-secret': v.optional(connectorSecret),
  status: v.optional(
    oneOfWords('inactive: no new charges; suspended: no API access either', Bank.entries.status),
  ),
  maximum: v.optional(option('AMOUNT|none', 'maximum amount of one debit', orNothing(money))),
  'connector-type': v.optional(
    oneOfWords('how customers approve a debit', Bank.entries.connectorType),
  ),
  'ussd-code': v.optional(option('CODE', 'USSD code, such as *422#', v.string())),
  'package-name': v.optional(
    option('NAME', 'package name of the app, such as com.gcb.mobile', v.string()),
  ),
}

/** The connection decides who receives account numbers and who reports outcomes. */
const connection = ['connector', 'connector-url', 'connector-secret'] as const

const target = options({ bank: bankOption })

export const bank = {
  name: 'bank',
  summary: 'banks',
  verbs: {
    create: {
      summary: 'creates a bank',
      options: options({ bank: bankOption, name, ...settings }),
      approval: connection,
    },
    update: {
      summary: 'changes the given settings only',
      options: options({ bank: bankOption, name: v.optional(name), ...settings }),
      approval: connection,
    },
    show: { summary: 'shows the settings of a bank, without secrets', options: target },
    list: { summary: 'lists all banks', options: options({}) },
    disable: {
      summary: 'refuses new charges; debits in progress continue',
      options: target,
    },
    enable: { summary: 'accepts new charges again', options: target },
  },
} as const satisfies Noun
