import * as v from 'valibot'
import { BankReference } from '../../domain/debits/bank-update.ts'
import { exceptionKinds, exceptionStatuses } from '../../domain/debits/exception.ts'
import { statuses } from '../../domain/debits/lifecycle.ts'
import { DebitCursor } from '../../domain/debits/list-query.ts'
import { Reference, Uuid } from '../../domain/ids.ts'
import { namesOf } from '../../domain/names.ts'
import { BulkId } from '../../domain/operator/bulk.ts'
import { oneOf, text } from '../../domain/text.ts'
import { Instant, Month } from '../../domain/time.ts'
import { deliveryStatuses } from '../../domain/webhooks/delivery.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const reference = o.option('REFERENCE', 'reference, such as DCS-20261121-ABC123', Reference)

const bankReferenceOf = (owner: string) =>
  o.option('TEXT', `the bank’s reference of ${owner}`, BankReference)

/** Returns the options of an outcome that a bank reported outside the API, for example by telephone. */
const outcome = (reason: string) =>
  o.options({ reference, 'bank-reference': bankReferenceOf('the debit'), reason: o.reason(reason) })

export const debit = {
  name: 'debit',
  summary: 'debits: history, reversal, outcomes reported outside the API, repair',
  verbs: {
    show: {
      effect: 'reads',
      shows: 'customers',
      summary: 'shows a debit with its history',
      options: o.options({ reference }),
    },
    list: {
      effect: 'reads',
      shows: 'customers',
      summary: 'lists debits, newest first; the last line on standard error is the next cursor',
      options: o.options({
        provider: v.optional(o.provider),
        bank: v.optional(o.bank),
        status: v.optional(
          o.option(statuses.join('|'), 'only debits in this status', oneOf(statuses)),
        ),
        phone: v.optional(o.phone),
        from: v.optional(o.day('first UTC day of the charges')),
        to: v.optional(o.day('last UTC day of the charges')),
        amount: o.optional('AMOUNT', 'only debits of this amount, such as 100.00', o.money),
        'bank-reference': v.optional(bankReferenceOf('the debit, its refund or a report')),
        'partner-reference': o.optional('TEXT', 'the provider’s own reference', text({ max: 50 })),
        uuid: o.optional('UUID', 'only the debit with this uuid', Uuid),
        cursor: o.optional('CURSOR', 'continues the list of an earlier call', DebitCursor),
        limit: o.limit,
      }),
    },
    reverse: {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'reverses a completed debit; its bank refunds the customer, unless --refund none',
      options: o.options({
        reference,
        reason: o.reason('reason; the provider can read it'),
        refund: o.optionalWord('return no money: the bank never debited the customer', {
          options: ['none'],
        }),
      }),
    },
    complete: {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'completes a pending or processing debit that its bank reported outside the API',
      options: outcome('reason and source; the provider can read it'),
    },
    fail: {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'fails a pending or processing debit that its bank reported outside the API',
      options: outcome('reason from the bank; the provider reads it as the error message'),
    },
    'fail-refund': {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'fails a pending or processing refund that its bank says it will never make',
      options: o.options({ reference, reason: o.reason('reason; the provider can read it') }),
    },
    repair: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'redoes missing follow-up work for the debits of one day',
      options: o.options({
        provider: o.provider,
        date: o.day('UTC day of the charges'),
        cursor: o.cursor('continues an earlier call'),
      }),
    },
  },
} as const satisfies Noun

const ofDebit = o.option('REFERENCE', 'reference of the debit', Reference)

export const delivery = {
  name: 'delivery',
  summary: 'deliveries of events to webhooks',
  verbs: {
    list: {
      effect: 'reads',
      shows: 'customers',
      summary: 'lists the deliveries of a debit with their attempts, or the newest of a provider',
      options: v.pipe(
        o.options({
          reference: v.optional(ofDebit),
          provider: v.optional(o.provider),
          status: o.optionalWord('only deliveries in this status', {
            options: namesOf(deliveryStatuses),
          }),
          cursor: o.page.cursor,
          limit: o.limit,
        }),
        v.check(
          ({ reference, provider }) => o.countOf(reference, provider) > 0,
          '--reference or --provider is required',
        ),
      ),
    },
    show: {
      effect: 'reads',
      shows: 'customers',
      summary: 'shows a delivery with its attempts and the sent body, without the customer',
      options: o.options({ id: o.option('ID', 'delivery id', v.string()) }),
    },
    redeliver: {
      effect: 'settings',
      shows: 'customers',
      summary: 'delivers an event again',
      options: o.options({ id: o.option('ID', 'delivery id', v.string()) }),
    },
    recover: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'redelivers all undelivered events of a provider since a time',
      options: o.options({
        provider: o.provider,
        since: o.option('TIME', 'at most 14 days ago, such as 2026-11-20T18:00:00Z', Instant),
      }),
    },
  },
} as const satisfies Noun

const kind = o.optionalWord('only exceptions of this kind', { options: namesOf(exceptionKinds) })

/** One debit, or many: those of a file, or of the open exceptions of a kind, a bank and some days. */
const selection = {
  reference: o.positional(ofDebit),
  file: o.optional(
    'FILE',
    'CSV file with reference, for many debits; -: standard input',
    text({ max: 300 }),
  ),
  kind,
  bank: v.optional(o.bank),
  from: v.optional(o.day('first UTC day of the exceptions')),
  to: v.optional(o.day('last UTC day of the exceptions')),
  bulk: o.optional('ID', 'references that were uploaded; the command adds it', BulkId),
}

type Selection = { [K in keyof typeof selection]?: string | undefined }

const isOneOrMany = ({ reference, file, bulk, kind, bank, from, to }: Selection): boolean => {
  const days = [bank, from, to]
  if (reference) return ![file, bulk, ...days].some(Boolean)
  return file ? !days.some(Boolean) : Boolean(kind) && days.every(Boolean)
}

const ONE_OR_MANY = 'is required, or else --file, or --kind with --bank, --from and --to'

export const exception = {
  name: 'exception',
  summary: 'rejected reports, failed refunds and reversal requests that an operator must resolve',
  verbs: {
    list: {
      effect: 'reads',
      shows: 'customers',
      summary: 'lists exceptions with their reports, newest first; reversal_request oldest first',
      options: o.options({
        status: o.optionalWord('only open or only resolved exceptions', {
          options: exceptionStatuses,
        }),
        kind,
        ...o.page,
      }),
    },
    summary: {
      effect: 'reads',
      shows: 'no customer',
      summary: 'counts the reversal requests of a month: opened, decided in time, late, declined',
      options: o.options({
        month: o.option('YYYY-MM', 'UTC month of the requests', Month),
        cursor: o.cursor('continues an earlier call'),
      }),
    },
    show: {
      effect: 'reads',
      shows: 'customers',
      summary: 'shows the exceptions of one debit; none: an empty list',
      options: o.options({ reference: ofDebit }),
    },
    refund: {
      effect: 'money',
      shows: 'customers',
      approval: 'always',
      summary: 'refunds a late completion, retries a failed refund, or reverses a requested debit',
      options: v.pipe(
        o.options({
          ...selection,
          reason: v.optional(o.reason('reason; the bank can read it')),
          'despite-note': o.optionalWord('also refund a late completion that a note resolved', {
            options: ['true'],
          }),
        }),
        v.forward(
          v.check((input) => isOneOrMany(input), ONE_OR_MANY),
          ['reference'],
        ),
        v.forward(
          v.check(
            ({ kind, bank }) => !kind || bank !== undefined,
            'belongs to --bank, --from and --to',
          ),
          ['kind'],
        ),
      ),
    },
    resolve: {
      effect: 'money',
      shows: 'customers',
      approval: ['file', 'from'],
      summary:
        'marks the open exceptions of a debit as resolved, which declines a reversal request',
      options: v.pipe(
        o.options({ ...selection, note: o.reason('resolution') }),
        v.forward(
          v.check((input) => isOneOrMany(input), ONE_OR_MANY),
          ['reference'],
        ),
      ),
    },
    upload: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'stores a part of a file of references; the command calls it',
      options: o.part,
    },
  },
} as const satisfies Noun
