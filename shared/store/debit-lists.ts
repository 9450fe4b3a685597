import type { BankIdentifier } from '../domain/bank.ts'
import type { Debit } from '../domain/debit.ts'
import { type Status, statuses } from '../domain/lifecycle.ts'
import { type PageRequest, REACH } from '../domain/page.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { Reference } from '../domain/reference.ts'
import { findDebits } from './debits.ts'
import { keys, queryAll, queryPages } from './table.ts'

/**
 * Lists of debits, newest first. An index tells which debits there are, a little late; what they
 * say is read from the table itself, and whatever does not belong any more is left out.
 */

/** Where a listed debit stands in its list, as text that a caller may hand back. */
type Position = { byTime: string; reference: Reference }

type IndexQuery = { index: 'by-status' | 'by-customer'; attribute: string; value: string }

const positionOf = (item: Record<string, unknown>): Position => {
  const byTime = String(item.byTime)
  return { byTime, reference: byTime.slice(byTime.indexOf('#') + 1) as Reference }
}

/** Up to `limit` positions of one list, from after a position on. */
const positions = async (
  { index, attribute, value }: IndexQuery,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Position[]> => {
  const found = await queryAll({
    IndexName: index,
    KeyConditionExpression: before ? '#pk = :pk AND byTime < :before' : '#pk = :pk',
    ExpressionAttributeNames: { '#pk': attribute },
    ExpressionAttributeValues: { ':pk': value, ...(before ? { ':before': before } : {}) },
    ScanIndexForward: false,
    Limit: limit,
  })
  return found.map(positionOf)
}

/** The debits themselves, strongly consistent, in the order of their positions. */
const load = async (wanted: readonly Position[]): Promise<Debit[]> => {
  const found = await findDebits(wanted.map(({ reference }) => reference))
  return wanted.flatMap(({ reference }) => found.get(reference) ?? [])
}

const inStatus = (partner: PartnerId, status: Status): IndexQuery => ({
  index: 'by-status',
  attribute: 'byStatus',
  value: keys.byStatus(partner, status),
})

export type DebitPage = {
  debits: Debit[]
  /** How many there are, up to where pages reach. */
  count: number
  /** What follows this page begins after it; null: nothing does. */
  cursor: string | null
}

/** One page of a partner's debits in one status. */
export const listByStatus = async (
  partner: PartnerId,
  status: Status,
  { page, perPage }: PageRequest,
): Promise<DebitPage> => {
  const all = await positions(inStatus(partner, status), { limit: REACH })
  const wanted = all.slice((page - 1) * perPage, page * perPage)
  const debits = (await load(wanted)).filter((debit) => debit.status === status)
  const hasMore = all.length > page * perPage || all.length === REACH
  return { debits, count: all.length, cursor: hasMore ? (wanted.at(-1)?.byTime ?? null) : null }
}

/** The debits that follow a cursor, however deep; one more is read to know whether any follow. */
export const listByStatusAfter = async (
  partner: PartnerId,
  status: Status,
  { before, perPage }: { before: string; perPage: number },
): Promise<Omit<DebitPage, 'count'>> => {
  const found = await positions(inStatus(partner, status), { limit: perPage + 1, before })
  const wanted = found.slice(0, perPage)
  const debits = (await load(wanted)).filter((debit) => debit.status === status)
  return { debits, cursor: found.length > perPage ? (wanted.at(-1)?.byTime ?? null) : null }
}

type Created = { from: Date; before: Date; pageSize: number }

/**
 * The debits of a partner that were created in a span, each once. Their lists are read in the
 * order of the lifecycle: one that moves on meanwhile is found in a later list, or in both.
 * @param known what was found before; a reference each, so a long day takes some megabytes
 */
export async function* createdWithin(
  partner: PartnerId,
  span: Created,
  known: Set<Reference>,
): AsyncGenerator<Reference[]> {
  for (const status of statuses) {
    for await (const page of createdPages(partner, status, span)) {
      const fresh = page.filter((reference) => !known.has(reference))
      for (const reference of fresh) known.add(reference)
      yield fresh
    }
  }
}

/** Those in one status, oldest first. */
async function* createdPages(
  partner: PartnerId,
  status: Status,
  { from, before, pageSize }: Created,
): AsyncGenerator<Reference[]> {
  const pages = queryPages({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :list AND byTime BETWEEN :from AND :before',
    ExpressionAttributeValues: {
      ':list': keys.byStatus(partner, status),
      ':from': from.toISOString(),
      // Positions of that very millisecond begin with it and go on, so they are not among them.
      ':before': before.toISOString(),
    },
    Limit: pageSize,
  })
  for await (const page of pages) yield page.map((item) => positionOf(item).reference)
}

/** The newest debits of a phone number at one bank: more than a person has, and a bound. */
const CUSTOMER_DEBITS_MAX = 500

export const listByCustomer = async (
  bank: BankIdentifier,
  phone: PhoneNumber,
): Promise<Debit[]> => {
  const value = keys.byCustomer(bank, phone)
  const query: IndexQuery = { index: 'by-customer', attribute: 'byCustomer', value }
  return load(await positions(query, { limit: CUSTOMER_DEBITS_MAX }))
}
