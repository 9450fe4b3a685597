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
  summary: 'daily amount limits of providers; request limits of providers and banks',
  verbs: {
    set: {
      summary: 'sets a daily limit, effective today, or the requests per minute of an operation',
      options: options({
        ...owner,
        'daily-limit': v.optional(
          option(
            'AMOUNT|none',
            'amount of a provider per UTC day, such as 50000.00; none: no limit',
            orNothing(money),
          ),
        ),
        operation: v.optional(
          option('NAME', 'API operation, such as charge', oneOf(operationNames)),
        ),
        'per-minute': v.optional(
          option(
            'N|default',
            'requests per minute of the operation; default: the published limit',
            orDefault(wholeNumber({ min: 1, max: 1_000_000 })),
          ),
        ),
      }),
    },
    show: {
      summary: 'shows the limits of a provider or bank and the amount used today',
      options: options(owner),
    },
    list: { summary: 'lists the limits of all providers and banks', options: options({}) },
    remove: {
      summary: 'removes the daily limit of a provider',
      options: options({ provider: providerOption }),
    },
  },
} as const satisfies Noun
