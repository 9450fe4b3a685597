import { BankReference } from '../../domain/debits/bank-update.ts'
import { statuses } from '../../domain/debits/lifecycle.ts'
import { Reference } from '../../domain/ids.ts'
import { oneOf, text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import { newest, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = option('REFERENCE', 'reference, such as DCS-20261121-ABC123', Reference)

/** Returns the options of an outcome that a bank reported outside the API, for example by telephone. */
const outcome = (reason: string) =>
  options({
    reference,
    'bank-reference': option('TEXT', 'the bank’s reference of the debit', BankReference),
    reason: option('TEXT', reason, text({ max: 200 })),
  })

export const debit = {
  name: 'debit',
  summary: 'debits: history, reversal, outcomes reported outside the API, repair',
  verbs: {
    show: { summary: 'shows a debit with its history', options: options({ reference }) },
    list: {
      summary: 'lists the debits of a provider in one status, newest first',
      options: options({
        provider: providerOption,
        status: option(statuses.join('|'), 'the status', oneOf(statuses)),
        limit: newest,
      }),
    },
    reverse: {
      summary: 'reverses a completed debit; its bank refunds the customer',
      options: options({
        reference,
        reason: option('TEXT', 'reason; the provider can read it', text({ max: 200 })),
      }),
      approval: 'always',
    },
    complete: {
      summary: 'completes a pending or processing debit that its bank reported outside the API',
      options: outcome('reason and source; the provider can read it'),
      approval: 'always',
    },
    fail: {
      summary: 'fails a pending or processing debit that its bank reported outside the API',
      options: outcome('reason from the bank; the provider reads it as the error message'),
      approval: 'always',
    },
    repair: {
      summary: 'redoes missing follow-up work for the debits of one day',
      options: options({
        provider: providerOption,
        date: option('YYYY-MM-DD', 'UTC day of the charges', Day),
      }),
    },
  },
} as const satisfies Noun
