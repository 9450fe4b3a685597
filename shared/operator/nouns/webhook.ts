import * as v from 'valibot'
import { oneOf } from '../../domain/text.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

/** Read and connect timeouts of one attempt (docs/api.md#webhook-settings). */
export const TIMEOUT_SECONDS = { default: 30, min: 10, max: 60 }
export const CONNECTION_TIMEOUT_SECONDS = { default: 10, min: 5, max: 30 }

/** Returns the option of a setting with two values; the usual one clears the setting. */
const variant = <Usual extends string, Other extends string>(
  meaning: string,
  usual: Usual,
  other: Other,
) => {
  const schema = v.pipe(
    oneOf([usual, other]),
    v.transform((value) => (value === usual ? null : other)),
  )
  return o.optional(`${usual}|${other}`, meaning, schema)
}

const settings = {
  url: o.option('URL', 'target of the events', v.string()),
  events: o.clearable('EVENTS', 'only these event types, as EVENT,EVENT', o.eventList),
  'max-attempts': o.clearable('N', 'total attempts, 1-10', o.wholeNumber({ min: 1, max: 10 })),
  timeout: o.optional(
    'SECONDS',
    'response timeout, 10-60 (default 30)',
    o.wholeNumber(TIMEOUT_SECONDS),
  ),
  'connection-timeout': o.optional(
    'SECONDS',
    'connection timeout, 5-30 (default 10)',
    o.wholeNumber(CONNECTION_TIMEOUT_SECONDS),
  ),
  'signature-prefix': variant('prefix of the signature', 'none', 'sha256'),
  payload: variant('contents of an event', 'full', 'reduced'),
  'event-names': variant('prefix of event names', 'transaction', 'debit_request'),
}

const target = o.options({ provider: o.provider })

export const webhook = {
  name: 'webhook',
  summary: 'webhooks of providers',
  shows: 'no customer',
  verbs: {
    set: {
      effect: 'money',
      approval: { if: 'the URL changes, or the secret cannot be opened' },
      summary: 'creates a webhook and prints its signing secret, or changes the given settings',
      options: o.options({ provider: o.provider, ...settings }),
    },
    show: {
      effect: 'reads',
      summary: 'shows settings and health, without the secret',
      options: target,
    },
    list: {
      effect: 'reads',
      summary: 'lists the webhooks of all providers',
      options: o.options({}),
    },
    enable: { effect: 'settings', summary: 're-enables a disabled webhook', options: target },
    ping: {
      effect: 'settings',
      summary: 'sends a signed ping, which re-enables the webhook if the receiver accepts it',
      options: target,
    },
    'rotate-secret': {
      effect: 'money',
      approval: 'always',
      summary: 'prints a new secret; the old one also signs until the overlap ends',
      options: o.options({ provider: o.provider, 'grace-seconds': o.graceSeconds }),
    },
    remove: {
      effect: 'settings',
      summary: 'removes a webhook: events are no longer delivered',
      options: target,
    },
  },
} as const satisfies Noun
