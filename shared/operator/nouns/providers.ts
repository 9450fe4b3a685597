import * as v from 'valibot'
import { operationNames, operations } from '../../api/operations.ts'
import { Provider } from '../../domain/providers/provider.ts'
import { oneOf, text } from '../../domain/text.ts'
import { Instant } from '../../domain/time.ts'
import { looksIssued } from '../../domain/token.ts'
import * as o from '../options.ts'
import {
  feeOptions,
  isWholeAccount,
  settlementOptions,
  WHOLE_ACCOUNT,
} from '../settlement-options.ts'
import type { Noun } from '../verbs.ts'

const target = o.options({ provider: o.provider })

const name = o.option('NAME', 'display name', text({ max: 100 }))

const settings = {
  'daily-limit': o.clearable('AMOUNT', 'maximum total of charges per UTC day', o.money),
  duplicates: o.optionalWord('reply to a repeated partner_reference', Provider.entries.duplicates),
  reversals: o.optionalWord('request: it may request reversals of its debits', {
    options: ['none', 'request'],
  }),
  status: o.optionalWord('suspended: requests are refused', Provider.entries.status),
  'allow-list': o.clearable('RANGES', 'allowed source addresses, as CIDR,CIDR', o.addressList),
  'request-secret': v.optional(
    o.secret(
      'request-signing secret, from standard input; none: requests are not signed',
      o.orNothing(o.secretText),
    ),
  ),
  ...feeOptions,
  ...settlementOptions,
}

export const provider = {
  name: 'provider',
  summary: 'payment providers',
  shows: 'no customer',
  verbs: {
    create: {
      effect: 'money',
      approval: ['settlement-*'],
      summary: 'creates a provider',
      options: v.pipe(
        o.options({ provider: o.provider, name, ...settings }),
        v.check((given) => isWholeAccount(given), WHOLE_ACCOUNT),
      ),
    },
    update: {
      effect: 'money',
      approval: [
        'name',
        'fee-*',
        'settlement-*',
        'daily-limit none',
        'allow-list',
        'request-secret none',
        'status active',
      ],
      summary: 'changes the given settings only',
      options: v.pipe(
        o.options({ provider: o.provider, name: v.optional(name), ...settings }),
        v.check((given) => isWholeAccount(given), WHOLE_ACCOUNT),
      ),
    },
    show: {
      effect: 'reads',
      summary: 'shows the settings of a provider, without secrets',
      options: target,
    },
    list: { effect: 'reads', summary: 'lists all providers', options: o.options({}) },
    disable: {
      effect: 'settings',
      summary: 'suspends a provider: requests get 403/1403, and its payouts are held',
      options: target,
    },
    enable: {
      effect: 'money',
      approval: { if: 'a payout is held' },
      summary: 'ends the suspension of a provider and the hold of its payouts',
      options: target,
    },
    'rotate-request-secret': {
      effect: 'settings',
      summary:
        'generates a request-signing secret and prints it once; requests must then be signed',
      options: o.options({ provider: o.provider, 'grace-seconds': o.graceSeconds }),
    },
  },
} as const satisfies Noun

const credentialId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be an id of 43 characters'),
)

const sandboxToken = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_]{8,100}$/, 'must be 8 to 100 letters, digits or underscores'),
  v.check((token) => !looksIssued(token), 'must not begin like a generated token'),
)

const credentialTarget = v.pipe(
  o.options({
    id: o.optional('ID', 'id from credential list', credentialId),
    token: o.optional('TOKEN', 'the token, instead of its id', v.string()),
  }),
  v.check(({ id, token }) => o.countOf(id, token) === 1, 'either --id or --token is required'),
)

export const credential = {
  name: 'credential',
  summary: 'API tokens of providers and banks',
  shows: 'no customer',
  verbs: {
    issue: {
      effect: 'money',
      approval: ['bank'],
      summary: 'issues a token to a provider or bank and prints it once; only its hash is stored',
      options: v.pipe(
        o.options({
          ...o.owner,
          'expires-on': o.optional(
            'TIME',
            'expiry, such as 2027-01-31T00:00:00Z (default: never)',
            Instant,
          ),
          token: o.optional(
            'TOKEN',
            'the token to issue, in sandboxes only (default: generated)',
            sandboxToken,
          ),
        }),
        v.check((given) => o.hasOneOwner(given), o.ONE_OWNER),
      ),
    },
    list: {
      effect: 'reads',
      summary:
        'lists the credentials of a provider or bank, newest first, by their last characters',
      options: v.pipe(
        o.options({ ...o.owner, cursor: o.page.cursor, limit: o.limit }),
        v.check((given) => o.hasOneOwner(given), o.ONE_OWNER),
      ),
    },
    show: {
      effect: 'reads',
      summary: 'shows a credential and its owner, by id or token',
      options: credentialTarget,
    },
    revoke: {
      effect: 'settings',
      summary: 'revokes a credential within 30 seconds, by id or token',
      options: credentialTarget,
    },
  },
} as const satisfies Noun

/** Returns the operations that a provider or a bank calls. */
export const operationsOf = (kind: 'provider' | 'bank') =>
  operationNames.filter((name) => operations[name].caller === kind)

export const limit = {
  name: 'limit',
  summary: 'daily amount limits of providers; request limits of providers and banks',
  shows: 'no customer',
  verbs: {
    set: {
      effect: 'money',
      approval: ['daily-limit none'],
      summary: 'sets a daily limit, effective today, or the requests per minute of an operation',
      options: v.pipe(
        o.options({
          ...o.owner,
          'daily-limit': o.clearable(
            'AMOUNT',
            'amount of a provider per UTC day, such as 50000.00; none: no limit',
            o.money,
          ),
          operation: o.optional('NAME', 'API operation, such as charge', oneOf(operationNames)),
          'per-minute': o.optional(
            'N|default',
            'requests per minute of the operation; default: the published limit',
            o.orDefault(o.wholeNumber({ min: 1, max: 1_000_000 })),
          ),
        }),
        v.check((given) => o.hasOneOwner(given), o.ONE_OWNER),
        v.check(
          ({ operation, 'per-minute': count }) => operation === undefined || count !== undefined,
          '--per-minute: is required with --operation',
        ),
        v.check(
          ({ operation, 'per-minute': count }) => count === undefined || operation !== undefined,
          '--operation: is required with --per-minute',
        ),
        v.check(
          ({ bank, 'daily-limit': limit }) => o.countOf(bank, limit) < 2,
          '--daily-limit: applies to providers only',
        ),
        v.check(
          ({ operation, 'per-minute': count, 'daily-limit': limit }) =>
            o.countOf(operation, count, limit) > 0,
          'name --daily-limit, or --operation and --per-minute',
        ),
        v.check(
          ({ operation, bank }) =>
            operation === undefined || operationsOf(bank ? 'bank' : 'provider').includes(operation),
          ({ input }) =>
            `--operation: must be one of ${operationsOf(input.bank ? 'bank' : 'provider').join(', ')}`,
        ),
      ),
    },
    show: {
      effect: 'reads',
      summary: 'shows the limits of a provider or bank and the amount used today',
      options: v.pipe(
        o.options(o.owner),
        v.check((given) => o.hasOneOwner(given), o.ONE_OWNER),
      ),
    },
    list: {
      effect: 'reads',
      summary: 'lists the limits of all providers and banks',
      options: o.options({}),
    },
    remove: {
      effect: 'money',
      approval: 'always',
      summary: 'removes the daily limit of a provider',
      options: target,
    },
  },
} as const satisfies Noun
