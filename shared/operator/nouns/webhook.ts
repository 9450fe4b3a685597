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

/** Read and connect timeouts of one attempt (docs/api.md#webhook-settings). */
export const TIMEOUT_SECONDS = { default: 30, min: 10, max: 60 }
export const CONNECTION_TIMEOUT_SECONDS = { default: 10, min: 5, max: 30 }

/** Returns the option of a setting with two values; the usual one clears the setting. */
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
        v.transform((value) => (value === usual ? null : other)),
      ),
    ),
  )

const settings = {
  url: option('URL', 'target of the events', v.string()),
  events: v.optional(
    option('EVENTS|none', 'only these event types, as EVENT,EVENT', orNothing(eventList)),
  ),
  'max-attempts': v.optional(
    option('N|none', 'total attempts, 1-10', orNothing(wholeNumber({ min: 1, max: 10 }))),
  ),
  timeout: v.optional(
    option('SECONDS', 'response timeout, 10-60 (default 30)', wholeNumber(TIMEOUT_SECONDS)),
  ),
  'connection-timeout': v.optional(
    option(
      'SECONDS',
      'connection timeout, 5-30 (default 10)',
      wholeNumber(CONNECTION_TIMEOUT_SECONDS),
    ),
  ),
  'signature-prefix': variant('prefix of the signature', 'none', 'sha256'),
  payload: variant('contents of an event', 'full', 'reduced'),
  'event-names': variant('prefix of event names', 'transaction', 'debit_request'),
}

const target = options({ provider: providerOption })

export const webhook = {
  name: 'webhook',
  summary: 'webhooks of providers',
  verbs: {
    set: {
      summary: 'creates a webhook or changes the given settings; prints its signing secret',
      options: options({ provider: providerOption, ...settings }),
    },
    show: { summary: 'shows settings and health, without the secret', options: target },
    list: { summary: 'lists the webhooks of all providers', options: options({}) },
    enable: { summary: 're-enables a disabled webhook', options: target },
    'rotate-secret': {
      summary: 'prints a new secret; the old one also signs until the overlap ends',
      options: options({
        provider: providerOption,
        'grace-seconds': graceSeconds,
      }),
    },
    remove: { summary: 'removes a webhook: events are no longer delivered', options: target },
  },
} as const satisfies Noun
