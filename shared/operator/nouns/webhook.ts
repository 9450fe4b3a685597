import * as v from 'valibot'
import { oneOf } from '../../domain/text.ts'
import {
  eventList,
  graceSeconds,
  option,
  options,
  orNothing,
  providerOption,
  wholeNumber,
} from '../options.ts'
import type { Noun } from '../verbs.ts'

/** Read and connect timeouts of one attempt (specification, Retry of deliveries, 7). */
export const TIMEOUT_SECONDS = { otherwise: 30, min: 10, max: 60 }
export const CONNECTION_TIMEOUT_SECONDS = { otherwise: 10, min: 5, max: 30 }

/** A setting of two values; naming the usual one takes the other away. */
const variant = <Usual extends string, Other extends string>(
  meaning: string,
  usual: Usual,
  other: Other,
) =>
  v.optional(
    option(
      `${usual}|${other}`,
      meaning,
      v.pipe(
        oneOf([usual, other]),
        v.transform((given) => (given === usual ? null : other)),
      ),
    ),
  )

const settings = {
  url: option('URL', 'where its events go', v.string()),
  events: v.optional(option('EVENTS|none', 'only these, as EVENT,EVENT', orNothing(eventList))),
  'max-attempts': v.optional(
    option('N|none', 'attempts in all, 1 to 10', orNothing(wholeNumber({ min: 1, max: 10 }))),
  ),
  timeout: v.optional(
    option('SECONDS', 'for an answer, 10 to 60; 30 at first', wholeNumber(TIMEOUT_SECONDS)),
  ),
  'connection-timeout': v.optional(
    option(
      'SECONDS',
      'for a connection, 5 to 30; 10 at first',
      wholeNumber(CONNECTION_TIMEOUT_SECONDS),
    ),
  ),
  'signature-prefix': variant('what the signature begins with', 'none', 'sha256'),
  payload: variant('what an event holds', 'full', 'reduced'),
  'event-names': variant('what events are called by', 'transaction', 'debit_request'),
}

const one = options({ provider: providerOption })

export const webhook = {
  name: 'webhook',
  summary: 'where providers are told of events',
  verbs: {
    set: {
      summary: 'sets it, or changes what is given; prints the secret that signs',
      options: options({ provider: providerOption, ...settings }),
    },
    show: { summary: 'its settings and how it fares, without its secret', options: one },
    list: { summary: 'every provider’s webhook', options: options({}) },
    enable: { summary: 'takes one up again that was given up', options: one },
    'rotate-secret': {
      summary: 'prints a new secret; the old one goes on signing beside it for a while',
      options: options({
        provider: providerOption,
        'grace-seconds': graceSeconds,
      }),
    },
    remove: { summary: 'its events are delivered no more', options: one },
  },
} as const satisfies Noun
