import type { GenericSchema } from 'valibot'
import { listFilters, NO_BANK_FILTER, UNUSED } from '../../shared/domain/debits/list-query.ts'
import { invalid, type Refusal } from '../../shared/domain/refusal.ts'
import { Phone } from '../../shared/views/fields.ts'
import { exampleCursors, phone } from './example-debit.ts'

type Parameter = {
  description?: string
  example: unknown
  deprecated?: true
  /** Of a parameter in the path; the operation has those of the query. */
  schema?: GenericSchema
}

export type Description = {
  tag: 'Debit requests' | 'Banks' | 'Bank reports' | 'Events' | 'Settlements'
  summary: string
  description: string
  parameters?: Record<string, Parameter>
  /** The query of the sample event and own members of its body; else path and body are the examples. */
  sample?: { query?: Record<string, string>; body?: object }
  refusals?: readonly Refusal[]
}

export const phoneParameter = { example: phone, schema: Phone }

/** Returns the parameters of a list's pages. */
const pageParameters = (items: string, list: keyof typeof exampleCursors) => ({
  per_page: { description: `${items} per page (default 20)`, example: 20 },
  cursor: { example: exampleCursors[list] },
})

const invalidCursor = invalid({ cursor: ['must be a cursor of this list'] })
export const invalidPage = invalid({ per_page: ['must be a whole number from 1 to 100'] })

export const listDescriptions = {
  'list-debit-requests': {
    tag: 'Debit requests',
    summary: 'List debits',
    description:
      'Returns debits of all statuses or of one, newest first. Numbered pages cover 10,000 ' +
      'transactions and have counts; `cursor` has no limit and no counts. A cursor is valid for the ' +
      'same provider and filters only.',
    parameters: {
      status: {
        description: `Only this status (default: all). \`${UNUSED}\` returns an empty list`,
        example: 'failed',
      },
      created_from: {
        description: 'Created at this time or later: ISO 8601 with an offset, or a UTC day',
        example: '2026-11-21',
      },
      created_to: {
        description: 'Created before this time, in the same format',
        example: '2026-11-22T00:00:00Z',
      },
      partner_reference: {
        description: 'Only the transaction with this partner_reference',
        example: 'order-1',
      },
      page: { example: 1 },
      ...pageParameters('Transactions', 'list-debit-requests'),
    },
    sample: { query: { status: 'completed', page: '1', per_page: '20' } },
    refusals: [
      invalid({ status: [`must be one of ${listFilters.join(', ')}`] }),
      invalidPage,
      invalidCursor,
    ],
  },
  'list-debit-transactions': {
    tag: 'Bank reports',
    summary: "List a customer's transactions at this bank",
    description:
      'Returns transactions, newest first. `total_count` and `total_amount` cover the matches on all ' +
      'pages up to 10,000; above that `total_is_at_least` is true. A page can be short although ' +
      'more follow: read `has_more` and continue with `next_cursor`. Pages by cursor have no totals. ' +
      'Without a match the list is empty.',
    parameters: {
      phone_number: phoneParameter,
      status: {
        description: `Only this status; \`${UNUSED}\` returns an empty list`,
        example: 'processing',
      },
      page: { example: 1 },
      ...pageParameters('Transactions', 'list-debit-transactions'),
    },
    sample: { query: { phone_number: phone, status: 'all' } },
    refusals: [
      invalidPage,
      invalidCursor,
      invalid({ customer: ['account not found'] }),
      invalid({ status_filter: [NO_BANK_FILTER] }),
    ],
  },
  'list-events': {
    tag: 'Events',
    summary: 'Read the feed of all events',
    description:
      'Returns all events of the provider for 30 days in one order, with the webhook bodies, ' +
      'including types without a subscription. Send the `next_cursor` of a reply as `cursor` of the ' +
      'next request: the feed never inserts an event before it. The feed can contain an event ' +
      'twice, with the same `event_id`.',
    parameters: {
      cursor: {
        example: exampleCursors['list-events'],
        description: 'The next_cursor of the previous page (default: from the oldest event)',
      },
      after: {
        example: exampleCursors['list-events'],
        description: 'Former name of `cursor`; both together are refused',
        deprecated: true,
      },
      per_page: { description: 'Events per page (default 20)', example: 20 },
    },
    sample: { query: { per_page: '50' } },
    refusals: [invalidCursor],
  },
  'list-settlements': {
    tag: 'Settlements',
    summary: 'List settlement batches',
    description:
      'Returns settlement batches, newest first. Sums are null while the service builds a batch.',
    parameters: pageParameters('Batches', 'list-settlements'),
    refusals: [invalidPage, invalidCursor],
  },
} as const satisfies Record<string, Description>
