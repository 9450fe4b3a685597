import * as v from 'valibot'
import { Provider } from '../../domain/providers/provider.ts'
import { text } from '../../domain/text.ts'
import {
  addressList,
  graceSeconds,
  money,
  oneOfWords,
  option,
  options,
  orNothing,
  providerOption,
  secretOption,
  secretText,
} from '../options.ts'
import { feeOptions, settlementOptions } from '../settlement-options.ts'
import type { Noun } from '../verbs.ts'

const name = option('NAME', 'display name', text({ max: 100 }))

const settings = {
  'daily-limit': v.optional(
    option('AMOUNT|none', 'maximum total of charges per UTC day', orNothing(money)),
  ),
  duplicates: v.optional(
    oneOfWords('reply to a repeated partner_reference', Provider.entries.duplicates),
  ),
  status: v.optional(oneOfWords('suspended: requests are refused', Provider.entries.status)),
  'allow-list': v.optional(
    option('RANGES|none', 'allowed source addresses, as CIDR,CIDR', orNothing(addressList)),
  ),
  'request-secret': v.optional(
    secretOption(
      'request-signing secret, from standard input; none: requests are not signed',
      orNothing(secretText),
    ),
  ),
  ...feeOptions,
  ...settlementOptions,
}

const target = options({ provider: providerOption })

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
    show: { summary: 'shows the settings of a provider, without secrets', options: target },
    list: { summary: 'lists all providers', options: options({}) },
    disable: { summary: 'suspends a provider: requests get 403/1403', options: target },
    enable: { summary: 'ends the suspension of a provider', options: target },
    'rotate-request-secret': {
      summary:
        'generates a request-signing secret and prints it once; requests must then be signed',
      options: options({ provider: providerOption, 'grace-seconds': graceSeconds }),
    },
  },
} as const satisfies Noun
