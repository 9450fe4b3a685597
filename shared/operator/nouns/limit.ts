import * as v from 'valibot'
import { operationNames } from '../../api/operations.ts'
import { oneOf } from '../../domain/text.ts'
import {
  bankOption,
  money,
  option,
  options,
  orDefault,
  orNothing,
  providerOption,
  wholeNumber,
} from '../options.ts'
import type { Noun } from '../verbs.ts'

const owner = { provider: v.optional(providerOption), bank: v.optional(bankOption) }

export const limit = {
  name: 'limit',
  summary: 'limits of providers and banks: amount per UTC day, requests per minute',
  verbs: {
    set: {
      summary: 'sets the daily limit of a provider, or the requests per minute of one operation',
      options: options({
        ...owner,
        'daily-limit': v.optional(
          option(
            'AMOUNT|none',
            'of a provider, such as 50000.00; none: no limit',
            orNothing(money),
          ),
        ),
        operation: v.optional(
          option('NAME', 'an operation of the API, such as charge', oneOf(operationNames)),
        ),
        'per-minute': v.optional(
          option(
            'N|default',
            'requests per minute of that operation; default: the published limit',
            orDefault(wholeNumber({ min: 1, max: 1_000_000 })),
          ),
        ),
      }),
    },
    show: {
      summary: 'the limits of a provider or bank, and the amount used today',
      options: options(owner),
    },
    list: { summary: 'the limits of every provider and bank', options: options({}) },
    remove: {
      summary: 'removes the daily limit of a provider',
      options: options({ provider: providerOption }),
    },
  },
} as const satisfies Noun
