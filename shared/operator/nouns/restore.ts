import * as v from 'valibot'
import { GENERATION_MAX } from '../../domain/operator/restore.ts'
import { option, options, providerOption, wholeNumber } from '../options.ts'
import type { Noun } from '../verbs.ts'

const generation = wholeNumber({ min: 2, max: GENERATION_MAX })

export const restore = {
  name: 'restore',
  summary: 'restores of the table to an earlier second',
  verbs: {
    begin: {
      summary: 'records a restore; holds timeouts, payouts and refunds of all providers',
      options: options({
        generation: option(
          'N',
          `generation above all earlier ones, 2-${GENERATION_MAX}`,
          generation,
        ),
      }),
    },
    release: {
      summary: 'ends the hold of one provider or of all',
      options: options({ provider: v.optional(providerOption) }),
    },
    show: { summary: 'shows the last restore and the providers on hold', options: options({}) },
  },
} as const satisfies Noun
