import * as v from 'valibot'
import { operationNames } from '../../api/operations.ts'
import { BankIdentifier } from '../../domain/banks/bank.ts'
import { Provider, SettlementAccount } from '../../domain/providers/provider.ts'
import { oneOf, text } from '../../domain/text.ts'
import { looksIssued } from '../../domain/token.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const target = o.options({ provider: o.provider })

export const feeOptions = {
  'fee-basis-points': o.clearable(
    'N',
    'fee in hundredths of a percent',
    o.wholeNumber({ min: 0, max: 10_000 }),
  ),
  'fee-fixed': o.clearable('AMOUNT', 'fixed amount added to each fee', o.money),
  'fee-minimum': o.clearable('AMOUNT', 'minimum fee of a debit', o.money),
  'fee-maximum': o.clearable('AMOUNT', 'maximum fee of a debit', o.money),
}

export const settlementOptions = {
  'settlement-bank': o.optional('BANK', 'bank that receives payouts', BankIdentifier),
  'settlement-account': o.clearable(
    'DIGITS',
    'account that receives payouts; bank, account and name are required together',
    SettlementAccount.entries.accountNumber,
  ),
  'settlement-name': o.optional(
    'NAME',
    'name of the account holder',
    SettlementAccount.entries.accountName,
  ),
}

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
  verbs: {
    create: {
      effect: 'money',
      approval: ['settlement-*'],
      summary: 'creates a provider',
      options: o.options({ provider: o.provider, name, ...settings }),
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
      options: o.options({ provider: o.provider, name: v.optional(name), ...settings }),
    },
    show: {
      effect: 'reads',
      shows: 'no customer',
      summary: 'shows the settings of a provider, without secrets',
      options: target,
    },
    list: {
      effect: 'reads',
      shows: 'no customer',
      summary: 'lists all providers',
      options: o.options({}),
    },
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

const expiry = v.pipe(
  v.string(),
  v.isoTimestamp('must be a time like 2027-01-31T00:00:00Z'),
  v.transform((text) => new Date(text).toISOString()),
)

const sandboxToken = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_]{8,100}$/, 'must be 8 to 100 letters, digits or underscores'),
  v.check((token) => !looksIssued(token), 'must not begin like a generated token'),
)

const credentialTarget = o.options({
  id: o.optional('ID', 'id from credential list', credentialId),
  token: o.optional('TOKEN', 'the token, instead of its id', v.string()),
})

export const credential = {
  name: 'credential',
  summary: 'API tokens of providers and banks',
  verbs: {
    issue: {
      effect: 'money',
      approval: ['bank'],
      summary: 'issues a token to a provider or bank and prints it once; only its hash is stored',
      options: o.options({
        ...o.owner,
        'expires-on': o.optional(
          'TIME',
          'expiry, such as 2027-01-31T00:00:00Z (default: never)',
          expiry,
        ),
        token: o.optional(
          'TOKEN',
          'the token to issue, in sandboxes only (default: generated)',
          sandboxToken,
        ),
      }),
    },
    list: {
      effect: 'reads',
      shows: 'no customer',
      summary:
        'lists the credentials of a provider or bank, newest first, by their last characters',
      options: o.options({ ...o.owner, cursor: o.page.cursor, limit: o.limit }),
    },
    show: {
      effect: 'reads',
      shows: 'no customer',
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

export const limit = {
  name: 'limit',
  summary: 'daily amount limits of providers; request limits of providers and banks',
  verbs: {
    set: {
      effect: 'money',
      approval: ['daily-limit none'],
      summary: 'sets a daily limit, effective today, or the requests per minute of an operation',
      options: o.options({
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
    },
    show: {
      effect: 'reads',
      shows: 'no customer',
      summary: 'shows the limits of a provider or bank and the amount used today',
      options: o.options(o.owner),
    },
    list: {
      effect: 'reads',
      shows: 'no customer',
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
