import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { StatementDebit } from '../domain/banks/statement.ts'
import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { statuses } from '../domain/debits/lifecycle.ts'
import type { Reference, Uuid } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import { listCreated } from '../store/debits/debit-lists.ts'
import { findDebits } from '../store/debits/debits.ts'
import { keys } from '../store/keys.ts'
import { listProviders } from '../store/providers/providers.ts'
import { readMany } from '../store/table.ts'

/** Reads what a bank's own statement is compared with, in parts that fit a reply of Lambda. */

/** A debit ends within ten minutes of its charge, unless an operator ends it. */
const EARLIER_DAYS = 3
const PAGE_SIZE = 100
/** Some 300 bytes each: 3 MB of the 6 MB of a reply. */
const SHOWN_MAX = 10_000
/** A part ends after so many debits of any bank, far inside a function's time. */
const EXAMINED_MAX = 50_000

/** Where a part begins: a list of a provider, and a position in it. */
export type BankDebitsCursor = { provider: string; status: string; after: string | null }

export type BankDebitsPage = { debits: StatementDebit[]; next: BankDebitsCursor | null }

const view = (debit: Debit): StatementDebit => {
  const { reference, provider, uuid, bankReference, amount, status, completedAt } = stateAt(debit)
  return {
    reference,
    provider,
    uuid,
    bank_reference: bankReference,
    amount: formatAmount(amount),
    status,
    completed_at: completedAt?.toISOString() ?? null,
  }
}

type Request = { bank: BankIdentifier; date: Day; cursor: BankDebitsCursor | null }

/**
 * Returns a part of the debits of a bank that were charged on a day or the three days before,
 * in any status. A debit that changes between two parts is in both.
 */
export const readBankDebits = async (
  { bank, date, cursor }: Request,
  { examinedMax = EXAMINED_MAX } = {},
): Promise<BankDebitsPage> => {
  const span = { from: startOf(dayAfter(date, -EARLIER_DAYS)), before: startOf(dayAfter(date)) }
  const debits: StatementDebit[] = []
  let examined = 0
  let after = cursor?.after ?? null
  for (const { provider, status } of await listsFrom(cursor)) {
    for (;;) {
      const place = { ...span, ...(after ? { after } : {}), limit: PAGE_SIZE }
      const { references, next } = await listCreated(provider, status, place)
      const found = await findDebits(references, logUnreadable('manage-reconciliation'))
      const ofBank = [...found.values()].filter(({ facts }) => facts.bank.identifier === bank)
      debits.push(...ofBank.map(view))
      examined += references.length
      after = next
      if (next === null) break
      if (examined < examinedMax && debits.length < SHOWN_MAX) continue
      return { debits, next: { provider, status, after: next } }
    }
  }
  return { debits, next: null }
}

/** The lists from a cursor on, in an order that a debit which moves on cannot escape. */
const listsFrom = async (cursor: BankDebitsCursor | null) => {
  const lists = (await listProviders())
    .sort()
    .flatMap((provider) => statuses.map((status) => ({ provider, status })))
  if (!cursor) return lists
  const first = lists.findIndex(
    ({ provider, status }) => provider === cursor.provider && status === cursor.status,
  )
  return first < 0 ? [] : lists.slice(first)
}

/** Returns those of some debits that are of a bank, by their uuids. */
export const readByUuid = async (
  bank: BankIdentifier,
  uuids: readonly Uuid[],
): Promise<StatementDebit[]> => {
  const pointers = await readMany(uuids.map(keys.uuid))
  const references = pointers.map(({ reference }) => reference as Reference)
  const debits = await findDebits(references, logUnreadable('manage-reconciliation'))
  return [...debits.values()].filter(({ facts }) => facts.bank.identifier === bank).map(view)
}
