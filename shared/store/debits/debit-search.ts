import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import { bankReferenceIn } from '../../domain/debits/exception.ts'
import { type DebitFilter, isListed } from '../../domain/debits/list-query.ts'
import { canHaveRefund } from '../../domain/debits/refund.ts'
import type { Pesewas } from '../../domain/money.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { listBanks } from '../banks/banks.ts'
import { mapConcurrent } from '../concurrent.ts'
import { cutAt, type List, readMerged } from '../index-lists.ts'
import { listProviders } from '../providers/providers.ts'
import { type DebitPage, listsOf, positionOf } from './debit-lists.ts'
import { findByOwnReference, findByUuid, findDebits, type Unreadable } from './debits.ts'
import { findExceptions } from './exceptions.ts'
import { findRefund } from './refunds.ts'
import { allOfCustomer, referenceAt } from './status-lists.ts'

export type DebitSearch = DebitFilter & {
  provider?: ProviderId | undefined
  phone?: PhoneNumber | undefined
  amount?: Pesewas | undefined
  bankReference?: string | undefined
  bank?: BankIdentifier | undefined
  /** These name a debit, which is read directly. */
  partnerReference?: string | undefined
  uuid?: string | undefined
}

type SearchRequest = {
  /** Searches the debits before this position. */
  before: string | undefined
  limit: number
  timeIsUp: () => boolean
}

const LISTS_AT_ONCE = 8
const READS_AT_ONCE = 32
/** Debits that one step reads at most. The first steps are short, because most searches end there. */
const STEP_MAX = 1_000

/**
 * Searches the debits of a customer, a provider or all providers, newest first, until the page is full.
 * If the time is up, the page is short, and the next one continues.
 */
export const searchDebits = async (
  search: DebitSearch,
  { before, limit, timeIsUp }: SearchRequest,
  unreadable: Unreadable,
): Promise<DebitPage> => {
  const named = await findNamed(search)
  if (named) return { debits: await foundIn(named, search), next: null }
  const groups = await groupsOf(search, unreadable)
  const found: Debit[] = []
  let next = before ?? null
  // One more debit shows whether others follow.
  for (let step = limit + 1; ; step = Math.min(step * 4, STEP_MAX)) {
    const page = await readStep(groups, next, step)
    const references = page.positions.map(referenceAt)
    const byReference = await findDebits(references, unreadable)
    const debits = references.flatMap((reference) => byReference.get(reference) ?? [])
    found.push(...(await foundIn(debits, search)))
    next = page.next
    const last = found[limit - 1]
    if (last && found.length > limit) {
      return { debits: found.slice(0, limit), next: positionOf(last) }
    }
    if (next === null || timeIsUp()) return { debits: found, next }
  }
}

/** Returns the debits that a uuid or a provider's reference names; undefined: the search has none. */
const findNamed = async ({ uuid, partnerReference, provider }: DebitSearch) => {
  if (uuid !== undefined) {
    const debit = await findByUuid(uuid)
    return debit ? [debit] : []
  }
  if (partnerReference === undefined) return undefined
  const providers = provider ? [provider] : await listProviders()
  const found = await mapConcurrent(providers, LISTS_AT_ONCE, (id) =>
    findByOwnReference(id, partnerReference),
  )
  return found.flatMap((debit) => debit ?? [])
}

/** Returns lists that together have all debits of a search; those of a group are read in sequence. */
const groupsOf = async (search: DebitSearch, unreadable: Unreadable): Promise<List[][]> => {
  const { phone, provider, status, from, to } = search
  if (phone) {
    const banks = await listBanks()
    return banks.map(({ identifier }) => allOfCustomer(identifier, phone, { from, to }))
  }
  const providers = provider ? [provider] : await listProviders()
  return mapConcurrent(providers, LISTS_AT_ONCE, (id) =>
    listsOf(id, { status, from, to }, unreadable),
  )
}

const isFound = (
  debit: Debit,
  { provider, phone, amount, bank, partnerReference, uuid, ...filter }: DebitSearch,
) => {
  const { facts } = debit
  return (
    isListed(debit, filter) &&
    (provider === undefined || facts.provider === provider) &&
    (phone === undefined || facts.phone === phone) &&
    (amount === undefined || facts.amount === amount) &&
    (bank === undefined || facts.bank.identifier === bank) &&
    (partnerReference === undefined || facts.partnerReference === partnerReference) &&
    (uuid === undefined || facts.uuid === uuid)
  )
}

/**
 * Reports whether a debit, its refund or a report among its exceptions has a reference of a bank. Without
 * a phone number, only failed and reversed debits cost the reads of refund and exceptions.
 */
const hasBankReference = async (debit: Debit, text: string, phone?: PhoneNumber) => {
  // Banks pad references; differences with a statement name them without blanks.
  const isNamed = (reference?: string | null) => reference?.trim() === text.trim()
  if (isNamed(stateAt(debit).bankReference)) return true
  if (phone === undefined && !canHaveRefund(debit.status)) return false
  const { reference } = debit.facts
  const [refund, exceptions] = await Promise.all([findRefund(reference), findExceptions(reference)])
  return (
    isNamed(refund?.bankReference) ||
    exceptions.some(({ report }) => isNamed(bankReferenceIn(report)))
  )
}

const foundIn = async (debits: readonly Debit[], search: DebitSearch): Promise<Debit[]> => {
  const { bankReference, phone } = search
  const found = debits.filter((debit) => isFound(debit, search))
  if (bankReference === undefined) return found
  const kept = await mapConcurrent(found, READS_AT_ONCE, async (debit) =>
    (await hasBankReference(debit, bankReference, phone)) ? [debit] : [],
  )
  return kept.flat()
}

/** Reads the newest positions of all groups, at most `limit`, down to where each group was read. */
const readStep = async (groups: readonly List[][], before: string | null, limit: number) => {
  const parts = await mapConcurrent(groups, LISTS_AT_ONCE, (lists) => {
    const rest = before === null ? lists : lists.flatMap((list) => cutAt(list, before))
    return readMerged(rest, { skip: 0, limit })
  })
  const bound = parts
    .flatMap(({ next }) => next ?? [])
    .sort()
    .at(-1)
  const read = parts
    .flatMap(({ positions }) => positions)
    .sort()
    .reverse()
  const newest = bound === undefined ? read : read.filter((position) => position >= bound)
  const positions = newest.slice(0, limit)
  const next = newest.length > limit ? positions.at(-1) : bound
  return { positions, next: next ?? null }
}
