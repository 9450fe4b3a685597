import * as v from 'valibot'
import { looksIssued } from '../../domain/token.ts'
import { bankOption, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const owner = { provider: v.optional(providerOption), bank: v.optional(bankOption) }

const target = options({
  id: v.optional(
    option(
      'ID',
      'id from credential list',
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be an id of 43 characters')),
    ),
  ),
  token: v.optional(option('TOKEN', 'the token, instead of its id', v.string())),
})

export const credential = {
  name: 'credential',
  summary: 'API tokens of providers and banks',
  verbs: {
    issue: {
      summary: 'issues a token to a provider or bank and prints it once; only its hash is stored',
      options: options({
        ...owner,
        'expires-on': v.optional(
          option(
            'TIME',
            'expiry, such as 2027-01-31T00:00:00Z (default: never)',
            v.pipe(
              v.string(),
              v.isoTimestamp('must be a time like 2027-01-31T00:00:00Z'),
              v.transform((text) => new Date(text).toISOString()),
            ),
          ),
        ),
        token: v.optional(
          option(
            'TOKEN',
            'the token to issue, in sandboxes only (default: generated)',
            v.pipe(
              v.string(),
              v.regex(/^[A-Za-z0-9_]{8,100}$/, 'must be 8 to 100 letters, digits or underscores'),
              v.check((token) => !looksIssued(token), 'must not begin like a generated token'),
            ),
          ),
        ),
      }),
    },
    list: {
      summary: 'lists the credentials of a provider or bank with their last characters',
      options: options(owner),
    },
    show: { summary: 'shows a credential and its owner, by id or token', options: target },
    revoke: {
      summary: 'revokes a credential within 30 seconds, by id or token',
      options: target,
    },
  },
} as const satisfies Noun
