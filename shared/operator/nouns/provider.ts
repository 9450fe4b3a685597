import * as v from 'valibot'
import { Partner } from '../../domain/providers/provider.ts'
import { text } from '../../domain/text.ts'
import {
  addressList,
  choice,
  graceSeconds,
  money,
  option,
  options,
  orNone,
  providerOption,
  secretOption,
  secretText,
} from '../options.ts'
import { feeOptions, settlementOptions } from '../settlement-options.ts'
import type { Noun } from '../verbs.ts'

const name = option('NAME', 'display name', text({ max: 100 }))

const settings = {
  'daily-limit': v.optional(
    option('AMOUNT|none', 'maximum total of charges per UTC day', orNone(money)),
  ),
  duplicates: v.optional(
    choice('reply to a repeated partner_reference', Partner.entries.duplicates),
  ),
  status: v.optional(choice('suspended: requests are refused', Partner.entries.status)),
  'allow-list': v.optional(
    option('RANGES|none', 'allowed source addresses, as CIDR,CIDR', orNone(addressList)),
  ),
  'request-secret': v.optional(
    secretOption(
      'request-signing secret, from standard input; none: requests are not signed',
      orNone(secretText),
    ),
  ),
  ...feeOptions,
  ...settlementOptions,
}

const one = options({ provider: providerOption })

export const provider = {
  name: 'provider',
  summary: 'payment providers',
  verbs: {
    create: {
      summary: 'creates a provider',
      options: options({ provider: providerOption, name, ...settings }),
    },
    update: {
      summary: 'changes the given settings only',
      options: options({ provider: providerOption, name: v.optional(name), ...settings }),
      approval: Object.keys(settlementOptions),
    },
    show: { summary: 'shows the settings of a provider, without secrets', options: one },
    list: { summary: 'lists all providers', options: options({}) },
    disable: { summary: 'suspends a provider: requests get 403/1403', options: one },
    enable: { summary: 'ends the suspension of a provider', options: one },
    'rotate-request-secret': {
      summary:
        'generates a request-signing secret and prints it once; requests must then be signed',
      options: options({ provider: providerOption, 'grace-seconds': graceSeconds }),
    },
  },
} as const satisfies Noun
