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

const name = option('NAME', 'what it is called', text({ max: 100 }))

const settings = {
  'daily-limit': v.optional(
    option('AMOUNT|none', 'the most it may charge in a UTC day', orNothing(money)),
  ),
  duplicates: v.optional(
    oneOfWords('what a repeated partner_reference gets', Provider.entries.duplicates),
  ),
  status: v.optional(oneOfWords('suspended: its calls are refused', Provider.entries.status)),
  'allow-list': v.optional(
    option('RANGES|none', 'addresses it may call from, as CIDR,CIDR', orNothing(addressList)),
  ),
  'request-secret': v.optional(
    secretOption(
      'signs every request, from standard input; none: requests are not signed',
      orNothing(secretText),
    ),
  ),
  ...feeOptions,
  ...settlementOptions,
}

const one = options({ provider: providerOption })

export const provider = {
  name: 'provider',
  summary: 'payment providers, who charge',
  verbs: {
    create: {
      summary: 'opens an account for a provider',
      options: options({ provider: providerOption, name, ...settings }),
    },
    update: {
      summary: 'changes what is given, and nothing else',
      options: options({ provider: providerOption, name: v.optional(name), ...settings }),
      approval: Object.keys(settlementOptions),
    },
    show: { summary: 'its settings, without secrets', options: one },
    list: { summary: 'every provider', options: options({}) },
    disable: { summary: 'its calls are refused from now on, with 403/1403', options: one },
    enable: { summary: 'it may call again', options: one },
    'rotate-request-secret': {
      summary: 'generates a request-signing secret and prints it once; requests must be signed',
      options: options({ provider: providerOption, 'grace-seconds': graceSeconds }),
    },
  },
} as const satisfies Noun
