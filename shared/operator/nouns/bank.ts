import * as v from 'valibot'
import { Bank, ConnectorName } from '../../domain/banks/bank.ts'
import { text } from '../../domain/text.ts'
import { bankOption, money, oneOfWords, option, options, orNothing } from '../options.ts'
import type { Noun } from '../verbs.ts'
import { connectorSecret, connectorUrl } from './connector.ts'

const name = option('NAME', 'what it is called', text({ max: 100 }))

const settings = {
  connector: v.optional(oneOfWords('how it is spoken to', ConnectorName)),
  'connector-url': v.optional(connectorUrl),
  'connector-secret': v.optional(connectorSecret),
  status: v.optional(
    oneOfWords('inactive: no new charges; suspended: it may not call either', Bank.entries.status),
  ),
  maximum: v.optional(option('AMOUNT|none', 'the most that it debits at once', orNothing(money))),
  'connector-type': v.optional(oneOfWords('how customers approve', Bank.entries.connectorType)),
  'ussd-code': v.optional(option('CODE', 'such as *422#', v.string())),
  'package-name': v.optional(option('NAME', 'of its app, such as com.gcb.mobile', v.string())),
}

/** Where a bank is reached decides who sees accounts, and who reports outcomes. */
const connection = ['connector', 'connector-url', 'connector-secret'] as const

const one = options({ bank: bankOption })

export const bank = {
  name: 'bank',
  summary: 'banks, who debit',
  verbs: {
    create: {
      summary: 'makes a bank known',
      options: options({ bank: bankOption, name, ...settings }),
      approval: connection,
    },
    update: {
      summary: 'changes what is given, and nothing else',
      options: options({ bank: bankOption, name: v.optional(name), ...settings }),
      approval: connection,
    },
    show: { summary: 'its settings, without secrets', options: one },
    list: { summary: 'every bank', options: options({}) },
    disable: {
      summary: 'takes no new charges; what is under way goes on',
      options: one,
    },
    enable: { summary: 'takes charges again', options: one },
  },
} as const satisfies Noun
