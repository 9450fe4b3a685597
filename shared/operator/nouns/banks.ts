import * as v from 'valibot'
import { Bank, ConnectorName, WhenDown } from '../../domain/banks/bank.ts'
import { BankBehaviour } from '../../domain/banks/bank-behaviour.ts'
import { PayoutDays } from '../../domain/banks/calendar.ts'
import { failureCodes } from '../../domain/banks/failure-code.ts'
import { StatementColumns, StatementEncoding } from '../../domain/banks/statement-format.ts'
import { text } from '../../domain/text.ts'
import { DAY_MS, Duration } from '../../domain/time.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const name = o.option('NAME', 'display name', text({ max: 100 }))

/** The connection decides who receives account numbers and who reports outcomes. */
const connection = {
  connector: o.optionalWord('connector (default: unchanged)', ConnectorName),
  'connector-url': o.optional('URL', 'base URL of the bank, for connector http', v.string()),
  'connector-secret': v.optional(
    o.secret(
      'secret that signs requests to the bank, from standard input (default: generated)',
      o.secretText,
    ),
  ),
}

const serverChange = {
  'knows-uuids': o.optionalWord('the server at the new URL knows all uuids of the previous one', {
    options: ['true'],
  }),
}

const settings = {
  ...connection,
  connector: o.optionalWord('connector', ConnectorName),
  status: o.optionalWord(
    'inactive: no new charges; suspended: no API access either',
    Bank.entries.status,
  ),
  maximum: o.clearable('AMOUNT', 'maximum amount of one debit', o.money),
  'connector-type': o.optionalWord('how customers approve a debit', Bank.entries.connectorType),
  'ussd-code': o.optional(
    'CODE',
    'USSD code, such as *422#',
    v.pipe(v.string(), v.regex(/^[*#0-9]{0,20}$/, 'must be a USSD code, such as *422#')),
  ),
  'when-down': o.optional(
    'accept|refuse|default',
    'charges while the bank is down (default: accept)',
    o.orDefault(WhenDown),
  ),
  'payout-days': o.optional(
    'all|working|default',
    'days of payouts to accounts at the bank (default: all)',
    o.orDefault(PayoutDays),
  ),
  'statement-columns': o.optional(
    'FIELD=COLUMN,...|default',
    'columns of its statements, such as bank_reference=Ref No,amount=Credit Amt,date=Value Date',
    o.orDefault(StatementColumns),
  ),
  'statement-encoding': o.optional(
    'utf-8|utf-16le|windows-1252|default',
    'encoding of its CSV statements without a byte order mark (default: utf-8)',
    o.orDefault(StatementEncoding),
  ),
  'open-prompts-max': o.optional(
    'N|default',
    'approval prompts of one customer in ten minutes, 1-1000',
    o.orDefault(o.wholeNumber({ min: 1, max: 1_000 })),
  ),
  'package-name': o.optional(
    'NAME',
    'package name of the app, such as com.gcb.mobile',
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.]{0,150}$/, 'must be a package name')),
  ),
  'account-lookup': o.optionalWord('ask the bank for numbers that are unknown here', {
    options: ['on', 'off'],
  }),
}

const target = o.options({ bank: o.bank })

export const bank = {
  name: 'bank',
  summary: 'banks',
  shows: 'no customer',
  verbs: {
    create: {
      effect: 'money',
      approval: ['connector'],
      summary: 'creates a bank',
      options: v.pipe(
        o.options({ bank: o.bank, name, ...settings }),
        v.check(
          ({ connector, 'connector-url': url }) => connector !== 'http' || url !== undefined,
          '--connector-url: is required for connector http',
        ),
      ),
    },
    update: {
      effect: 'money',
      approval: { with: Object.keys(connection), if: 'it ends a suspension' },
      summary: 'changes the given settings only',
      options: o.options({ bank: o.bank, name: v.optional(name), ...settings, ...serverChange }),
    },
    show: {
      effect: 'reads',
      summary: 'shows the settings of a bank, without secrets',
      options: target,
    },
    list: { effect: 'reads', summary: 'lists all banks', options: o.options({}) },
    disable: {
      effect: 'settings',
      summary: 'refuses new charges; debits in progress continue; a suspension stays',
      options: target,
    },
    enable: {
      effect: 'money',
      approval: { if: 'it ends a suspension' },
      summary: 'accepts new charges again, and ends a suspension',
      options: target,
    },
    behave: {
      effect: 'settings',
      summary: 'changes how a sandbox bank behaves, for tests',
      options: v.pipe(
        o.options({
          bank: o.bank,
          as: o.oneOfWords('behaviour', {
            options: ['normal', ...BankBehaviour.entries.as.options],
          }),
          code: o.optionalWord('failure code, for rejecting (default transaction_declined)', {
            options: failureCodes,
          }),
          for: o.optional(
            'DURATION',
            'such as 30s, 5m or 2h (default: until normal)',
            v.pipe(Duration, v.maxValue(366 * DAY_MS, 'must be at most 366d')),
          ),
        }),
        v.check(
          ({ as, code }) => code === undefined || as === 'rejecting',
          '--code: applies to rejecting only',
        ),
      ),
    },
  },
} as const satisfies Noun

export const connector = {
  name: 'connector',
  summary: 'connections to banks',
  shows: 'no customer',
  verbs: {
    set: {
      effect: 'money',
      approval: 'always',
      summary: 'sets the connector of a bank, or its URL or secret',
      options: o.options({ bank: o.bank, ...connection, ...serverChange }),
    },
    show: {
      effect: 'reads',
      summary: 'shows the connector of a bank, without its secret',
      options: target,
    },
    list: { effect: 'reads', summary: 'lists the connectors of all banks', options: o.options({}) },
    remove: {
      effect: 'money',
      approval: 'always',
      summary: 'removes the connector of a bank with its URL and secret; charges are refused',
      options: target,
    },
  },
} as const satisfies Noun
