import * as v from 'valibot'
import { looksIssued } from '../../domain/token.ts'
import { bankOption, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const owner = { provider: v.optional(providerOption), bank: v.optional(bankOption) }

const wanted = options({
  id: v.optional(
    option(
      'ID',
      'as credential list shows it',
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be an id of 43 characters')),
    ),
  ),
  token: v.optional(option('TOKEN', 'or the token itself', v.string())),
})

export const credential = {
  name: 'credential',
  summary: 'tokens that providers and banks call with',
  verbs: {
    issue: {
      summary: 'prints a new token, once: only its hash is kept; name a provider or a bank',
      options: options({
        ...owner,
        'expires-on': v.optional(
          option(
            'TIME',
            'when it ends, such as 2027-01-31T00:00:00Z; never otherwise',
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
            'a token of your own; in sandboxes only',
            v.pipe(
              v.string(),
              v.regex(/^[A-Za-z0-9_]{8,100}$/, 'must be 8 to 100 letters, digits or underscores'),
              v.check(
                (token) => !looksIssued(token),
                'must not begin as those do that are issued here',
              ),
            ),
          ),
        ),
      }),
    },
    list: {
      summary: 'an owner’s credentials, by their last characters; name a provider or a bank',
      options: options(owner),
    },
    show: { summary: 'whose one is, by its id or itself', options: wanted },
    revoke: {
      summary: 'ends one within 30 seconds, by its id or itself',
      options: wanted,
    },
  },
} as const satisfies Noun
