import type { BankIdentifier, CustomerAccount } from '../../domain/banks/bank.ts'
import {
  type ImportChange,
  type ImportRow,
  importChangeOf,
  importChanges,
  importedAccount,
} from '../../domain/banks/customer-import.ts'
import type { Runtime } from '../../runtime.ts'
import { groupsOf, mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import { settingsIn, unchanged } from '../settings.ts'
import * as db from '../table.ts'

/** Writes the accounts of a file. A row that changes nothing costs a read. */

const READS_AT_ONCE = 8
const WRITES_AT_ONCE = 64
const READ_SIZE = 100

type ImportCounts = Record<ImportChange, number>

/** The accounts of rows as they are stored, by phone number, and what an import of the rows would do. */
type ImportComparison = { items: ReadonlyMap<string, db.Item>; counts: ImportCounts }

const countsOf = (changes: readonly ImportChange[]): ImportCounts => {
  const counts = { added: 0, changed: 0, removed: 0, unchanged: 0 }
  for (const change of changes) counts[change] += 1
  return counts
}

export const sumOf = (parts: readonly Partial<Record<string, number>>[]): ImportCounts => {
  const sum = (name: ImportChange) => parts.reduce((total, part) => total + (part[name] ?? 0), 0)
  return Object.fromEntries(importChanges.map((name) => [name, sum(name)])) as ImportCounts
}

/** Reads the items of the rows' accounts, by phone number. */
const readItems = async (rows: readonly ImportRow[], bank: BankIdentifier) => {
  const groups = await mapConcurrent(groupsOf(rows, READ_SIZE), READS_AT_ONCE, (group) =>
    db.readMany(group.map(([phone]) => keys.account(phone, bank))),
  )
  return new Map(groups.flat().map((item) => [String(item.pk).slice('CUSTOMER#'.length), item]))
}

const accountIn = (item: db.Item | undefined) => item && settingsIn<CustomerAccount>(item)

export const compareRows = async (
  rows: readonly ImportRow[],
  bank: BankIdentifier,
): Promise<ImportComparison> => {
  const items = await readItems(rows, bank)
  const changes = rows.map((row) => {
    const current = accountIn(items.get(row[0]))
    return importChangeOf(current, importedAccount(row, current))
  })
  return { items, counts: countsOf(changes) }
}

/** Writes the rows on condition that their accounts are unchanged since the read. */
export const importRows = async (
  rows: readonly ImportRow[],
  bank: BankIdentifier,
  { items }: Pick<ImportComparison, 'items'>,
  runtime: Pick<Runtime, 'newId' | 'now'>,
): Promise<void> => {
  const write = (row: ImportRow): Promise<true> => {
    const key = keys.account(row[0], bank)
    return optimistically(`${key.pk} ${key.sk}`, async (race) => {
      const item = race === 1 ? items.get(row[0]) : await db.read<db.Item>(key)
      const current = accountIn(item)
      const next = importedAccount(row, current)
      if (importChangeOf(current, next) === 'unchanged') return true
      const isWritten = next
        ? db.putIf(
            {
              ...{ ...key, entity: 'account', ...next },
              ...{ changedAt: runtime.now().toISOString(), revision: runtime.newId() },
            },
            unchanged(item),
          )
        : db.remove(key, unchanged(item))
      return (await isWritten) || undefined
    })
  }
  await mapConcurrent(rows, WRITES_AT_ONCE, write)
}
