import * as v from 'valibot'
import { cursorAt, pageParameters } from '../page.ts'
import { PhoneNumber } from '../phone.ts'
import { oneOf, text } from '../text.ts'
import { Instant } from '../time.ts'
import { type Debit, stateAt } from './debit.ts'
import { lifecycle, type Status, statuses } from './lifecycle.ts'

const POSITION = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z#[A-Z0-9-]{17,24}$/

export const DebitCursor = cursorAt(POSITION)

const RESERVED = 'cancelled'
type Unused = Exclude<typeof RESERVED, Status>

/** Reports whether a published filter names no status: its lists are empty. */
export const isUnused = (filter: string): filter is Unused =>
  filter === RESERVED && !statuses.some((status: string) => status === filter)

const unused = [RESERVED].filter(isUnused)

/** The texts about filters without a debit. */
export const emptyFilters = unused.map((filter) => `\`${filter}\` returns an empty list`)

/** The filters of a provider's list. */
export const listFilters = [...statuses, ...unused]

/** The query of a provider's list (docs/api.md#debit-list). */
export const DebitListQuery = v.pipe(
  v.object({
    status: v.optional(oneOf(listFilters)),
    created_from: v.optional(Instant),
    created_to: v.optional(Instant),
    partner_reference: v.optional(text({ max: 50 })),
    ...pageParameters,
    cursor: v.optional(DebitCursor),
  }),
  v.forward(
    v.partialCheck(
      [['created_to'], ['created_from']],
      ({ created_from: from, created_to: to }) => !from || !to || from <= to,
      'must not be before created_from',
    ),
    ['created_to'],
  ),
)

export type DebitFilter = {
  status?: Status | Unused | undefined
  /** Created at this time or later. */
  from?: Date | undefined
  /** Created before this time. */
  to?: Date | undefined
}

export const isListed = (debit: Debit, { status, from, to }: DebitFilter): boolean => {
  const { createdAt } = stateAt(debit)
  const isWithin = (!from || createdAt >= from) && (!to || createdAt < to)
  return isWithin && (status === undefined || debit.status === status)
}

const namedFilters = [
  ...statuses.filter((status) => lifecycle[status].isBankFilter),
  'all' as const,
]

/** The filters of a bank's list, and the text that rejects another one. */
export const bankFilters = [...namedFilters, ...unused]
export const NO_BANK_FILTER = `must be one of ${namedFilters.join(', ')}`

/** The query of a bank's list (docs/api.md#bank-list). */
export const BankListQuery = v.object(
  {
    phone_number: PhoneNumber,
    status: v.optional(v.picklist(bankFilters, NO_BANK_FILTER), 'pending'),
    ...pageParameters,
    cursor: v.optional(DebitCursor),
  },
  'is required',
)
export type BankStatusFilter = v.InferOutput<typeof BankListQuery>['status']
