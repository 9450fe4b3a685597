import type { Item } from './change.ts'
import { sizeOf } from './item-size.ts'
import type { IndexDefinition, Key, KeyUnits, TableDefinition } from './keys.ts'
import type { Replacement } from './storage.ts'
import type { Value } from './values.ts'

/** The capacity units of calls, as DynamoDB bills them. */

const WRITE_BYTES = 1_024
const READ_BYTES = 4_096
/** A transaction prepares and commits each item. It writes an index entry once. */
const TRANSACTION_FACTOR = 2

/** @param bytes of one item, or of all rows that a query examined */
export const readUnits = (bytes: number, { isConsistent }: { isConsistent: boolean }): number =>
  Math.max(1, Math.ceil(bytes / READ_BYTES)) * (isConsistent ? 1 : 0.5)

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_BYTES))

export const bytesOf = (item: Item | undefined): number => (item ? sizeOf(item as Row) : 0)

/** Returns the units of a write: of its item, and of its index entries. A rejected write costs its item. */
export const unitsOfWrite = (
  { pk: key }: Key,
  { before, after }: Replacement,
  { indexes, inTransaction }: Pick<TableDefinition, 'indexes'> & { inTransaction: boolean },
): KeyUnits[] => {
  const units = writeUnits(Math.max(bytesOf(before), bytesOf(after)))
  return [
    { key, units: units * (inTransaction ? TRANSACTION_FACTOR : 1) },
    ...indexes.flatMap((index) =>
      unitsOfEntry(entryOf(before, index), entryOf(after, index)).map((entry) => ({
        index: index.name,
        ...entry,
      })),
    ),
  ]
}

export const sumOfUnits = (parts: readonly KeyUnits[]): number =>
  parts.reduce((sum, { units }) => sum + units, 0)

type Row = Readonly<Record<string, Value>>
type Entry = { key: string; position: string; row: Row; text: string } | undefined

const entryOf = (
  item: Item | undefined,
  { partitionKey, sortKey, projected }: IndexDefinition,
): Entry => {
  if (item?.[partitionKey] === undefined || item[sortKey] === undefined) return undefined
  const names = ['pk', 'sk', partitionKey, sortKey, ...projected]
  const row = Object.fromEntries(
    names.flatMap((name) => (name in item ? [[name, item[name] as Value]] : [])),
  )
  const position = JSON.stringify([item[partitionKey], item[sortKey]])
  return { key: String(item[partitionKey]), position, row, text: JSON.stringify(row) }
}

/** A change of keys deletes one entry and puts another; a change of projected attributes updates one. */
const unitsOfEntry = (before: Entry, after: Entry): KeyUnits[] => {
  const [deleted, put] = [before, after].map((entry) =>
    entry ? [{ key: entry.key, units: writeUnits(sizeOf(entry.row)) }] : [],
  ) as [KeyUnits[], KeyUnits[]]
  if (before?.position !== after?.position) return [...deleted, ...put]
  if (before?.text === after?.text) return []
  return sumOfUnits(deleted) > sumOfUnits(put) ? deleted : put
}
