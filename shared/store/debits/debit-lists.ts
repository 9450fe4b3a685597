import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import { type DebitFilter, isListed } from '../../domain/debits/list-query.ts'
import type { Reference } from '../../domain/ids.ts'
import { type Pesewas, pesewas } from '../../domain/money.ts'
import { type Count, type PagePlace, REACH } from '../../domain/page.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import {
  countEntries,
  cutAt,
  cutFrom,
  entriesOf,
  type List,
  queryOf,
  readMerged,
} from '../index-lists.ts'
import { keys } from '../keys.ts'
import { queryAll, queryPages } from '../table.ts'
import type { TimedReference } from '../work-index.ts'
import { findDebits, type Unreadable } from './debits.ts'
import {
  type CustomerFilter,
  customerLists,
  type ListName,
  partOf,
  providerLists,
  readOrder,
  referenceAt,
} from './status-lists.ts'

/**
 * Lists of debits, newest first (docs/api.md#lists). An index, which may lag, selects the debits; the
 * table has their current state, and debits that no longer match are omitted.
 */

export const positionOf = (debit: Debit): string =>
  keys.byTime(stateAt(debit).createdAt, debit.facts.reference)

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

export const listsOf = async (
  provider: ProviderId,
  filter: DebitFilter,
  unreadable: Unreadable,
) => {
  // Without a status the lists are read in the order in which no moving debit is missed.
  const recent = filter.status === undefined ? await partOf(provider, 'recent', filter) : []
  return [...recent, ...(await providerLists(provider, filter, unreadable))]
}

/** Lists a page of a provider's debits. */
export const listDebits = async (
  provider: ProviderId,
  filter: DebitFilter,
  place: PagePlace,
  unreadable: Unreadable,
) => {
  const lists = await listsOf(provider, filter, unreadable)
  return readPage(lists, place, (debit) => isListed(debit, filter), unreadable)
}

export const countDebits = async (
  provider: ProviderId,
  filter: DebitFilter,
  unreadable: Unreadable,
): Promise<Count> => {
  const lists = await providerLists(provider, filter, unreadable)
  const counted = await Promise.all(lists.map((list) => countEntries(list, REACH)))
  const sum = counted.reduce((all, { count }) => all + count, 0)
  const isAtLeast = sum >= REACH || counted.some(({ end }) => end !== undefined)
  return { count: Math.min(sum, REACH), isAtLeast }
}

/** Lists a page of a customer's debits. It is short if it reaches the bound of examined entries. */
export const listByCustomer = async (
  filter: CustomerFilter,
  place: PagePlace,
  unreadable: Unreadable,
) =>
  readPage(
    await customerLists(filter, unreadable),
    place,
    ({ status }) => filter.status === 'all' || status === filter.status,
    unreadable,
  )

/** Counts and sums a customer's debits in the index. */
export const sumByCustomer = async (
  filter: CustomerFilter,
  unreadable: Unreadable,
): Promise<Count & { amount: Pesewas }> => {
  const sum = { count: 0, amount: 0, isAtLeast: false }
  for (const list of await customerLists(filter, unreadable)) {
    let end: object | undefined
    for await (const page of entriesOf(list, REACH - sum.count)) {
      sum.count += page.items.length
      sum.amount += page.items.reduce((all, { amount }) => all + Number(amount), 0)
      end = page.end
    }
    sum.isAtLeast ||= end !== undefined || sum.count >= REACH
    if (sum.isAtLeast) break
  }
  return { ...sum, amount: pesewas(sum.amount) }
}

/** @returns at most `limit` references by creation, and the position of the next; null: no more */
export const listCreated = async (
  provider: ProviderId,
  name: ListName,
  { from, before, after, limit }: { from: Date; before: Date; after?: string; limit: number },
): Promise<{ references: Reference[]; next: string | null }> => {
  const [list] = await partOf(provider, name, { from, to: before })
  if (!list) return { references: [], next: null }
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

type CreationSpan = {
  from: Date
  before: Date
  pageSize: number
  lists?: readonly ListName[]
  /** Continues after this place of an earlier page: the number of its list and its last position. */
  after?: string | undefined
}

/**
 * Lists the debits of a provider that were created in a span, each once.
 * @param known the references that were listed before; a long day has some megabytes of them
 */
export async function* createdWithin(
  provider: ProviderId,
  span: CreationSpan,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  for await (const { references } of createdPages(provider, span, known)) yield references
}

/** Lists the same debits, each page with its place. */
export async function* createdPages(
  provider: ProviderId,
  { from, before: to, pageSize: Limit, lists: names = readOrder, after = '0#' }: CreationSpan,
  known: Set<Reference>,
): AsyncGenerator<{ references: Reference[]; place: string }> {
  const start = Number.parseInt(after, 10)
  const position = after.slice(after.indexOf('#') + 1)
  // The first list begins with this position.
  if (position) known.add(referenceAt(position))
  for (const [n, name] of names.entries()) {
    if (n < start) continue
    const lists = await partOf(provider, name, { from, to })
    for (const list of n === start ? lists.flatMap((one) => cutFrom(one, position)) : lists) {
      const pages = queryPages({ ...queryOf(list), ScanIndexForward: true, Limit })
      for await (const page of pages) {
        const last = page.at(-1)
        if (!last) continue
        const references = page.map(({ byTime }) => referenceAt(String(byTime)))
        const fresh = references.filter((reference) => !known.has(reference))
        for (const reference of fresh) known.add(reference)
        yield { references: fresh, place: `${n}#${last.byTime}` }
      }
    }
  }
}

/** Lists the debits in `main` by creation, oldest first, with the times of their creation. */
export async function* mainPages(
  provider: ProviderId,
  { from, before: to }: { from: Date; before: Date },
  Limit: number,
): AsyncGenerator<TimedReference[]> {
  for (const list of await partOf(provider, 'main', { from, to })) {
    for await (const page of queryPages({ ...queryOf(list), ScanIndexForward: true, Limit })) {
      yield page.map(({ byTime }) => {
        const [at = '', reference] = String(byTime).split('#')
        return { reference: reference as Reference, at: new Date(at) }
      })
    }
  }
}
