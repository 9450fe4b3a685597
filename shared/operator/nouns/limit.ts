import { money, option, options, orNone, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const one = options({ provider: providerOption })

export const limit = {
  summary: 'what providers may charge in a UTC day',
  verbs: {
    set: {
      summary: 'gives a provider another limit, for this day too',
      options: options({
        provider: providerOption,
        'daily-limit': option('AMOUNT|none', 'such as 50000.00; none: no limit', orNone(money)),
      }),
    },
    show: { summary: 'a provider’s limit, and what of it is used today', options: one },
    list: { summary: 'the limit of every provider', options: options({}) },
    remove: { summary: 'a provider may charge without limit', options: one },
  },
} as const satisfies Noun
