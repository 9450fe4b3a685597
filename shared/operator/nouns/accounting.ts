import * as v from 'valibot'
import { BankIdentifier } from '../../domain/banks/bank.ts'
import { AHEAD_MAX } from '../../domain/banks/statement.ts'
import { movementKinds } from '../../domain/banks/statement-row.ts'
import { BankReference } from '../../domain/debits/bank-update.ts'
import { BatchId, Uuid } from '../../domain/ids.ts'
import { CURRENCY } from '../../domain/money.ts'
import { namesOf } from '../../domain/names.ts'
import { batchStatuses } from '../../domain/settlement/batch.ts'
import { reportFormats, statementFormats } from '../../domain/settlement/list-query.ts'
import { oneOf, text } from '../../domain/text.ts'
import { Instant, Month } from '../../domain/time.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const batch = o.option('ID', 'batch id, such as STL-20261122-6NN1EZ', BatchId)
const payable = o.options({
  batch,
  'any-day': o.optionalWord('also on a day without payouts of the bank', { options: ['true'] }),
})

export const format = v.optional(
  o.oneOfWords('output format (default json)', { options: reportFormats }),
  'json',
)

export const settlement = {
  name: 'settlement',
  summary: 'settlement batches and payouts',
  shows: 'no customer',
  verbs: {
    run: {
      effect: 'settings',
      summary: 'runs the settlement of a day: builds its batches and pays due batches',
      options: o.options({
        date: o.day('UTC day of the run'),
        provider: v.optional(o.provider),
        currency: v.optional(o.option(CURRENCY, 'currency', v.string()), CURRENCY),
      }),
    },
    list: {
      effect: 'reads',
      summary: 'lists batches, newest first; of all providers or one',
      options: o.options({
        provider: v.optional(o.provider),
        status: o.optionalWord('only batches in this status', { options: namesOf(batchStatuses) }),
        ...o.page,
      }),
    },
    show: { effect: 'reads', summary: 'shows a batch', options: o.options({ batch }) },
    report: {
      effect: 'reads',
      summary: 'prints the lines of a batch as the provider reads them',
      options: o.options({ batch, format }),
    },
    statement: {
      effect: 'reads',
      summary: 'prints the monthly statement of a provider: fees, adjustments, net, payouts',
      options: o.options({
        provider: o.provider,
        month: o.option('YYYY-MM', 'month of the batches', Month),
        format: v.optional(
          o.oneOfWords('output format (default json)', { options: statementFormats }),
          'json',
        ),
      }),
    },
    process: {
      effect: 'money',
      approval: { if: 'the batch is not due yet' },
      summary: 'pays a batch immediately, also before its day',
      options: payable,
    },
    complete: {
      effect: 'money',
      approval: 'always',
      summary:
        'records a payout that was made, or a provider’s transfer for its debt; pays nothing',
      options: o.options({
        batch,
        'bank-reference': o.option(
          'TEXT',
          'the bank’s reference of the payout or the transfer',
          BankReference,
        ),
        amount: o.optional(
          'AMOUNT',
          'the amount that was paid, if none or another was sent',
          o.money,
        ),
        bank: o.clearable(
          'BANK',
          'the bank that paid, if not that of the account; none: no bank of the service',
          BankIdentifier,
        ),
        reason: o.reason('reason and source'),
      }),
    },
    fail: {
      effect: 'money',
      approval: 'always',
      summary: 'fails a processing payout that its bank says it will never make',
      options: o.options({ batch, reason: o.reason('reason; the provider can read it') }),
    },
    retry: {
      effect: 'money',
      approval: 'always',
      summary: 'pays a batch again after its bank rejected the payout',
      options: payable,
    },
  },
} as const satisfies Noun

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const Cursor = v.object({
  provider: v.string(),
  list: v.string(),
  after: v.nullable(v.pipe(v.string(), v.maxLength(100))),
})

const Names = v.pipe(v.array(v.pipe(v.string(), v.maxLength(60))), v.maxLength(20))

const Result = v.object({
  covers: v.array(oneOf(movementKinds)),
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  counts: v.object({ matched: Count, missing_here: Count, missing_at_bank: Count, differs: Count }),
  names: v.object({ missing_here: Names, missing_at_bank: Names, differs: Names }),
  // The command of an earlier version has none of them.
  ahead: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(36))), v.maxLength(AHEAD_MAX))),
  booked: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(43)))),
  read_at: v.optional(Instant),
})

/**
 * The command requests the bank's format, then its debits in pages, those of uuids that no page contains,
 * and refunds and payouts. At the end it stores the result.
 */
export const StatementRequest = v.union([
  v.object({ format: v.literal(true) }),
  v.object({ outgoing: oneOf(['refund', 'payout']), after: v.pipe(v.string(), v.maxLength(100)) }),
  v.object({ result: Result }),
  v.object({ cursor: v.nullable(Cursor) }),
  v.object({ uuids: v.pipe(v.array(Uuid), v.maxLength(5_000)) }),
])
export type StatementRequest = v.InferInput<typeof StatementRequest>

const date = o.day('UTC day')

export const reconciliation = {
  name: 'reconciliation',
  summary: 'consistency checks of the table, and comparison with bank statements',
  shows: 'no customer',
  verbs: {
    run: {
      effect: 'reads',
      summary: 'checks a day and prints the differences; changes nothing',
      options: o.options({
        date,
        run: v.optional(
          o.option('ID', 'continues a check of a large day; the command adds it', v.string()),
        ),
      }),
    },
    statement: {
      effect: 'settings',
      summary:
        'compares a bank statement of a day with debits, refunds and payouts; stores the counts',
      options: o.options({
        bank: o.bank,
        statement: o.option(
          'FILE',
          'CSV file with the columns of the bank, or camt.053; -: standard input',
          v.string(),
        ),
        date,
      }),
    },
  },
} as const satisfies Noun

const amount = v.pipe(
  o.money,
  v.check((pesewas) => pesewas > 0, 'must be above zero'),
)

export const funding = {
  name: 'funding',
  summary: 'remittances of banks to the service',
  shows: 'no customer',
  verbs: {
    record: {
      effect: 'money',
      approval: 'always',
      summary: 'records a remittance; a repeated reference changes nothing',
      options: o.options({
        bank: o.bank,
        amount: o.option('AMOUNT', 'amount, such as 5000.00', amount),
        reference: o.option('TEXT', 'the bank’s reference of the remittance', text({ max: 100 })),
        date: o.day('UTC day on which the cash arrived'),
      }),
    },
    correct: {
      effect: 'money',
      approval: 'always',
      summary: 'replaces the amount of a remittance by a correcting entry of today',
      options: o.options({
        reference: o.option('TEXT', 'the bank’s reference of the remittance', text({ max: 100 })),
        amount: o.option('AMOUNT', 'the right amount; 0.00: nothing arrived', o.money),
        reason: o.reason('reason'),
        bank: v.optional(o.bank),
      }),
    },
    list: {
      effect: 'reads',
      summary: 'lists remittances, newest day first',
      options: o.options({ bank: v.optional(o.bank), ...o.page }),
    },
  },
} as const satisfies Noun
