import * as v from 'valibot'
import { bankOption, newest, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

export const change = {
  name: 'change',
  summary: 'record of changes by operators',
  verbs: {
    list: {
      summary: 'lists changes, newest first; of all or of one provider or bank',
      options: options({
        provider: v.optional(providerOption),
        bank: v.optional(bankOption),
        limit: newest,
      }),
    },
  },
} as const satisfies Noun
