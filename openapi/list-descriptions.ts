import { statuses } from '../shared/domain/debits/lifecycle.ts'
import { invalid, type Refusal } from '../shared/domain/refusal.ts'
import { exampleCursors } from './example-debit.ts'

/** The descriptions of operations that list debits, events and batches. */

type Parameter = { description?: string; example: unknown; deprecated?: true }

export type Description = {
  tag: 'Debit requests' | 'Banks' | 'Bank reports' | 'Events' | 'Settlements'
  summary: string
  description: string
  /** Parameters of path and query, by name. */
  parameters?: Record<string, Parameter>
  /** Bodies to begin with. */
  bodies?: Record<string, Record<string, unknown>>
  /** Refusals that belong to this operation. */
  refusals?: readonly Refusal[]
}

export const phone = { example: '+233241234567' }

const cursorExample = (list: keyof typeof exampleCursors): Parameter => ({
  example: exampleCursors[list],
})

const wrongCursor = invalid({ cursor: ['must be a cursor of this list'] })
export const wrongPage = invalid({ per_page: ['must be a whole number from 1 to 100'] })

export const listDescriptions = {
  'list-debit-requests': {
    tag: 'Debit requests',
    summary: 'List debits',
    description:
      'Newest first, of all statuses or of one. Pages by number reach 10,000 transactions deep ' +
      'and carry counts; `cursor` continues without a limit and without counts. A cursor belongs ' +
      'to its list: the same provider and the same filters.',
    parameters: {
      status: {
        description: 'Only this status; absent: all. `cancelled` gives an empty list',
        example: 'failed',
      },
      created_from: {
        description: 'Created at this time or later: ISO 8601 with an offset, or a day in UTC',
        example: '2026-11-21',
      },
      created_to: {
        description: 'Created before this time, in the same forms',
        example: '2026-11-22T00:00:00Z',
      },
      partner_reference: {
        description: 'The transaction with exactly this partner_reference',
        example: 'order-1',
      },
      page: { example: 1 },
      per_page: { description: 'Transactions of a page; 20 by default', example: 20 },
      cursor: cursorExample('list-debit-requests'),
    },
    refusals: [
      invalid({ status: [`must be one of ${[...statuses, 'cancelled'].join(', ')}`] }),
      wrongPage,
      wrongCursor,
    ],
  },
  'list-debit-transactions': {
    tag: 'Bank reports',
    summary: "List a customer's transactions at this bank",
    description:
      'Newest first. `total_count` and `total_amount` cover all matches up to 10,000, whatever the ' +
      'page shows; then `total_is_at_least` is true. A page can be short, also when more follows: ' +
      '`has_more` shows it, and `next_cursor` continues. A page by cursor has no totals. No match ' +
      'is an empty list.',
    parameters: {
      phone_number: phone,
      status: {
        description: 'Only this status; `cancelled` gives an empty list',
        example: 'processing',
      },
      page: { example: 1 },
      per_page: { description: 'Transactions of a page; 20 by default', example: 20 },
      cursor: cursorExample('list-debit-transactions'),
    },
    refusals: [
      wrongPage,
      wrongCursor,
      invalid({ customer: ['account not found'] }),
      invalid({
        status_filter: ['must be one of pending, processing, completed, failed, all'],
      }),
    ],
  },
  'list-events': {
    tag: 'Events',
    summary: 'Read the feed of all events',
    description:
      'Every event of the provider for 30 days, in one order, with the bodies that its webhook is ' +
      'sent, also of types it is not subscribed to. Send the `next_cursor` of a reply as `cursor` ' +
      'of the next request: the feed never inserts an event before it. The feed can contain an ' +
      'event twice, with the same `event_id`.',
    parameters: {
      cursor: {
        ...cursorExample('list-events'),
        description: 'The next_cursor of the previous page; absent: from the oldest event',
      },
      after: {
        ...cursorExample('list-events'),
        description: 'The former name of `cursor`; not together with it',
        deprecated: true,
      },
      per_page: { description: 'Events of a page; 20 by default', example: 20 },
    },
    refusals: [wrongCursor],
  },
  'list-settlements': {
    tag: 'Settlements',
    summary: 'List settlement batches',
    description:
      'The settlement batches of completed debits, newest first. Sums are null while the service ' +
      'builds a batch.',
    parameters: {
      per_page: { description: 'Batches of a page; 20 by default', example: 20 },
      cursor: cursorExample('list-settlements'),
    },
    refusals: [wrongPage, wrongCursor],
  },
} as const satisfies Record<string, Description>
