import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import { type Status, statuses } from '../../domain/debits/lifecycle.ts'
import {
  type BankStatusFilter,
  type DebitFilter,
  isListed,
} from '../../domain/debits/list-query.ts'
import type { Reference } from '../../domain/ids.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import { type Count, type PagePlace, REACH } from '../../domain/page.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { countEntries, cutAt, type List, queryOf, readMerged } from '../index-lists.ts'
import { keys } from '../keys.ts'
import { examine, queryAll, queryPages } from '../table.ts'
import { findDebits, type Unreadable } from './debits.ts'

/**
 * Lists of debits, newest first (docs/api.md#lists). An index, which may lag, selects the debits; the
 * table has their current state, and debits that no longer match are omitted.
 */

export const positionOf = (debit: Debit): string =>
  keys.byTime(stateAt(debit).createdAt, debit.facts.reference)

const referenceAt = (position: string) => position.slice(position.indexOf('#') + 1) as Reference

export type DebitPage = {
  debits: Debit[]
  /** The position that the next page follows; null: the last page. */
  next: string | null
}

const readPage = async (
  lists: readonly List[],
  { slice, before }: PagePlace,
  isMatch: (debit: Debit) => boolean,
  unreadable: Unreadable,
): Promise<DebitPage> => {
  const rest = before === undefined ? lists : lists.flatMap((list) => cutAt(list, before))
  const { positions, next } = await readMerged(rest, slice)
  const references = positions.map(referenceAt)
  const byReference = await findDebits(references, unreadable)
  const debits = references.flatMap((reference) => byReference.get(reference) ?? [])
  return { debits: debits.filter(isMatch), next }
}

const listsOf = (provider: ProviderId, { status, from, to }: DebitFilter): List[] =>
  statuses
    .filter((listed) => status === undefined || listed === status)
    .map((listed) => ({
      index: 'by-status',
      key: keys.byStatus(provider, listed),
      from: from?.toISOString(),
      // Positions of this millisecond are longer, so they sort after it.
      until: to?.toISOString(),
    }))

/** Lists a page of a provider's debits. */
export const listDebits = (
  provider: ProviderId,
  filter: DebitFilter,
  place: PagePlace,
  unreadable: Unreadable,
) => readPage(listsOf(provider, filter), place, (debit) => isListed(debit, filter), unreadable)

export const countDebits = async (provider: ProviderId, filter: DebitFilter): Promise<Count> => {
  const counted = await Promise.all(
    listsOf(provider, filter).map((list) => countEntries(list, REACH)),
  )
  const sum = counted.reduce((all, { count }) => all + count, 0)
  return { count: Math.min(sum, REACH), isAtLeast: sum >= REACH }
}

/** The debits of a phone number at one bank. */
export type CustomerFilter = { bank: BankIdentifier; phone: PhoneNumber; status: BankStatusFilter }

const customerLists = ({ bank, phone, status }: CustomerFilter): List[] => {
  if (status === 'cancelled') return []
  const list = { index: 'by-customer', key: keys.byCustomer(bank, phone) } as const
  return [status === 'all' ? list : { ...list, status }]
}

/** Lists a page of a customer's debits. It is short if it reaches the bound of examined entries. */
export const listByCustomer = (filter: CustomerFilter, place: PagePlace, unreadable: Unreadable) =>
  readPage(
    customerLists(filter),
    place,
    ({ status }) => filter.status === 'all' || status === filter.status,
    unreadable,
  )

/** Counts and sums a customer's debits in the index. */
export const sumByCustomer = async (
  filter: CustomerFilter,
): Promise<Count & { amount: Pesewas }> => {
  const sum = { count: 0, amount: 0, isAtLeast: false }
  for (const list of customerLists(filter)) {
    const input = { ...queryOf(list), ProjectionExpression: 'amount' }
    for await (const { items, end } of examine(input, REACH)) {
      sum.count += items.length
      sum.amount += items.reduce((all, { amount }) => all + Number(amount), 0)
      sum.isAtLeast = end !== undefined
    }
  }
  return { ...sum, amount: pesewas(sum.amount) }
}

/** @returns at most `limit` references by creation, and the position of the next; null: no more */
export const listCreated = async (
  provider: ProviderId,
  status: Status,
  { from, before, after, limit }: { from: Date; before: Date; after?: string; limit: number },
): Promise<{ references: Reference[]; next: string | null }> => {
  const [list] = listsOf(provider, { status, from, to: before })
  if (!list) throw new Error(`Unknown list ${status}`)
  const entries = await queryAll({
    ...queryOf({ ...list, ...(after && { from: after }) }),
    ScanIndexForward: true,
    // The list starts with the position `after`; one more entry shows whether others follow.
    Limit: limit + 2,
  })
  const positions = entries
    .map(({ byTime }) => String(byTime))
    .filter((position) => position !== after)
  const page = positions.slice(0, limit)
  const next = positions.length > limit ? (page.at(-1) ?? null) : null
  return { references: page.map(referenceAt), next }
}

type CreationSpan = { from: Date; before: Date; pageSize: number; statuses?: readonly Status[] }

/**
 * Lists the debits of a provider that were created in a span, each once. It reads their lists in the
 * order of the lifecycle, so that a debit that changes its status during the read is not missed.
 * @param known the references that were listed before; a long day has some megabytes of them
 */
export async function* createdWithin(
  provider: ProviderId,
  { from, before: to, pageSize: Limit, statuses: selected = statuses }: CreationSpan,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  const lists = selected.flatMap((status) => listsOf(provider, { status, from, to }))
  for (const list of lists) {
    const pages = queryPages({ ...queryOf(list), ScanIndexForward: true, Limit })
    for await (const page of pages) {
      const references = page.map(({ byTime }) => referenceAt(String(byTime)))
      const fresh = references.filter((reference) => !known.has(reference))
      for (const reference of fresh) known.add(reference)
      yield fresh
    }
  }
}
