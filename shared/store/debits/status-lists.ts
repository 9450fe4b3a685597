import type { BankIdentifier } from '../../domain/banks/bank.ts'
import {
  hasOwnList,
  isOpen,
  listedAlone,
  type Status,
  statuses,
} from '../../domain/debits/lifecycle.ts'
import {
  type BankStatusFilter,
  type DebitFilter,
  isUnused,
} from '../../domain/debits/list-query.ts'
import type { Reference } from '../../domain/ids.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { cutAt, cutFrom, type List } from '../index-lists.ts'
import { type DebitList, keys } from '../keys.ts'
import { findSweepProgress, type SweepProgress, sweptBefore } from '../sweep-progress.ts'
import type { Item } from '../table.ts'
import { findDebits, type Unreadable } from './debits.ts'

/**
 * The lists of a provider in the index by-status. The sweep moves a debit that is still open from
 * `main` to `open`, so every debit in `main` that the sweep has passed is completed. The status of a
 * debit that it has not passed, or in `open`, is read from the table.
 */

/** `recent` is the part of `main` that the sweep has not passed. */
export type ListName = 'recent' | DebitList

/** A debit that changes its list during a read in this order appears in a later list. */
const stable = ['open', 'main', ...listedAlone] as const
export const readOrder: readonly ListName[] = ['recent', ...stable]

/** The status of every debit in `main` that the sweep has passed. */
const checkedStatus = statuses.find((status) => !isOpen(status) && !hasOwnList(status))

/** Created from, and before, a time. */
type CreationTimes = Omit<DebitFilter, 'status'>

const listNamed = (provider: ProviderId, name: DebitList, { from, to }: CreationTimes): List => ({
  index: 'by-status',
  key: keys.debits(provider, name),
  from: from?.toISOString(),
  // Positions of this millisecond are longer, so they sort after it.
  until: to?.toISOString(),
})

/** Reads the progress before the index: an entry that the sweep passes later is only read once more. */
const sweptIn = async (provider: ProviderId): Promise<string> =>
  sweptBefore(await findSweepProgress(), provider).toISOString()

/** @returns no list if it would be empty */
export const partOf = async (
  provider: ProviderId,
  name: ListName,
  span: CreationTimes,
): Promise<List[]> =>
  name === 'recent'
    ? cutFrom(listNamed(provider, 'main', span), await sweptIn(provider))
    : [listNamed(provider, name, span)]

export const referenceAt = (position: string) =>
  position.slice(position.indexOf('#') + 1) as Reference

const referenceOf = ({ byTime }: Item): Reference => referenceAt(String(byTime))

/** Returns the status of an entry's debit; undefined if only the table has it. */
const statusOf = ({ byStatus, byTime }: Item, progress: SweepProgress | undefined) => {
  const provider = String(byStatus).split('#')[0] as ProviderId
  const isIn = (list: DebitList): boolean => byStatus === keys.debits(provider, list)
  const swept = sweptBefore(progress, provider)
  const isChecked = isIn('main') && String(byTime) < swept.toISOString()
  return isChecked ? checkedStatus : listedAlone.find(isIn)
}

/** Selects the entries of debits in one status. */
const inStatus =
  (status: Status, progress: SweepProgress | undefined, unreadable: Unreadable) =>
  async (entries: readonly Item[]): Promise<Item[]> => {
    const known = entries.map((entry) => statusOf(entry, progress))
    const unknown = hasOwnList(status) ? [] : entries.filter((_, index) => !known[index])
    const debits = await findDebits(unknown.map(referenceOf), unreadable, { isConsistent: false })
    return entries.filter(
      (entry, index) => (known[index] ?? debits.get(referenceOf(entry))?.status) === status,
    )
  }

/** Returns the lists of a provider's filter, each debit in one. */
export const providerLists = async (
  provider: ProviderId,
  { status, ...span }: DebitFilter,
  unreadable: Unreadable,
): Promise<List[]> => {
  const list = (name: DebitList): List => listNamed(provider, name, span)
  if (status === undefined) return stable.map(list)
  if (isUnused(status)) return []
  if (hasOwnList(status)) return [list(status)]
  const progress = await findSweepProgress()
  const swept = sweptBefore(progress, provider).toISOString()
  const select = inStatus(status, progress, unreadable)
  const recent = cutFrom(list('main'), swept).map((part) => ({ ...part, select }))
  return isOpen(status)
    ? [...recent, { ...list('open'), select }]
    : [...recent, ...cutAt(list('main'), swept)]
}

/** Returns the lists of all debits of a phone number at one bank, each debit in one. */
export const allOfCustomer = (
  bank: BankIdentifier,
  phone: PhoneNumber,
  { from, to }: CreationTimes = {},
): List[] =>
  // In this order: a debit whose prompt is refused during the read appears in the later list.
  [keys.byCustomer(bank, phone), keys.unprompted(bank, phone)].map((key) => ({
    index: 'by-customer',
    key,
    from: from?.toISOString(),
    until: to?.toISOString(),
  }))

/** The debits of a phone number at one bank. */
export type CustomerFilter = { bank: BankIdentifier; phone: PhoneNumber; status: BankStatusFilter }

/** Returns the list of a bank's filter. The index also has the list in by-status of each debit. */
export const customerLists = async (
  { bank, phone, status }: CustomerFilter,
  unreadable: Unreadable,
): Promise<List[]> => {
  if (isUnused(status)) return []
  const lists = allOfCustomer(bank, phone)
  if (status === 'all') return lists
  const select = inStatus(status, await findSweepProgress(), unreadable)
  return lists.map((list) => ({ ...list, select }))
}
