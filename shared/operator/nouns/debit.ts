import { BankReference } from '../../domain/debits/bank-update.ts'
import { statuses } from '../../domain/debits/lifecycle.ts'
import { Reference } from '../../domain/ids.ts'
import { oneOf, text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import { newest, option, options, providerOption } from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = option('REFERENCE', 'such as DCS-20261121-ABC123', Reference)

/** An outcome that a bank has given outside the API, for example by telephone. */
const outcome = (reason: string) =>
  options({
    reference,
    'bank-reference': option('TEXT', 'the bank’s reference of the debit', BankReference),
    reason: option('TEXT', reason, text({ max: 200 })),
  })

export const debit = {
  name: 'debit',
  summary: 'debits, their reversal, and outcomes that a bank gave outside the API',
  verbs: {
    show: { summary: 'one with its history', options: options({ reference }) },
    list: {
      summary: 'the newest of a provider in one status; reversals are those in reversed',
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
        reason: option('TEXT', 'why; the provider reads it', text({ max: 200 })),
      }),
      approval: 'always',
    },
    complete: {
      summary: 'completes a pending or processing debit, as its bank reported outside the API',
      options: outcome('why, and who said so; the provider reads it'),
      approval: 'always',
    },
    fail: {
      summary: 'fails a pending or processing debit, as its bank reported outside the API',
      options: outcome('the bank’s words; the provider reads them as the error message'),
      approval: 'always',
    },
    repair: {
      summary: "has all done that should have followed from a day's debits, and did not",
      options: options({
        provider: providerOption,
        date: option('YYYY-MM-DD', 'the UTC day on which they were charged', Day),
      }),
    },
  },
} as const satisfies Noun
