import type { Change, Item } from './change.ts'
import { invalid } from './errors.ts'
import { type IndexView, newIndexView } from './index-view.ts'
import type { Key, KeyUnits, TableDefinition } from './keys.ts'
import { newRows, type Row } from './rows.ts'
import { compareText, isSame, type Value } from './values.ts'

export type TableOptions = {
  definition: TableDefinition
  name: string
  /** Returns milliseconds since 1970; never decreases. */
  now: () => number
  /** Returns the delay until an index shows a change of an item, in milliseconds. */
  indexLag?: (index: string, item: string) => number
  /** Returns the invocation that writes. */
  by?: () => Change['by']
  /** Called with the capacity units of each call that reads or writes, also if a condition failed. */
  onConsumed?: (consumed: Consumed) => void
  /** Called with the changes of one transaction, once all are visible. */
  onCommit?: (changes: readonly Change[]) => void
}

/** `parts`: the units of a write by key. */
export type Consumed =
  | { kind: 'read'; units: number }
  | { kind: 'write'; units: number; parts: readonly KeyUnits[] }

/** One item before and after a write. */
export type Replacement = { before: Item | undefined; after: Item | undefined }

/** The items of a table and its indexes. */
export type Storage = ReturnType<typeof newStorage>

const bySortKey = (one: Row, other: Row): number => compareText(one.sk, other.sk)

export const newStorage = ({ definition, now, indexLag, by, onCommit }: TableOptions) => {
  const rows = newRows<Item>(bySortKey)
  const views = definition.indexes.map((index) =>
    newIndexView(index, (item) => indexLag?.(index.name, item) ?? 0),
  )
  let transactions = 0
  let sequence = 0

  const find = (key: Key): Item | undefined => rows.find(key.pk, key)

  const store = (key: Key, item: Item | undefined): void => {
    if (item) rows.add(key.pk, item)
    else rows.remove(key.pk, key)
  }

  const commit = (replacements: readonly Replacement[]): void => {
    const at = now()
    transactions += 1
    const changes: Change[] = []
    for (const { before, after } of replacements) {
      // The stream has no record of a write that changes nothing.
      if (isSame(before as Value | undefined, after as Value | undefined)) continue
      store((after ?? before) as Key, after)
      sequence += 1
      changes.push({ sequence, transaction: transactions, at, before, after, by: by?.() })
      for (const view of views) view.apply(before, after, at)
    }
    onCommit?.(changes)
  }

  return {
    commit,
    /** Deletes the items whose time to live has passed at an instant. */
    removeExpired: (at: number): void => {
      const seconds = at / 1000
      const expired = rows.all().filter((item) => Number(item[definition.timeToLive]) < seconds)
      for (const before of expired) commit([{ before, after: undefined }])
    },
    /** Stores an item, or deletes it, as an earlier process did. */
    restore: (key: Key, item: Item | undefined, ofSequence: number): void => {
      sequence = Math.max(sequence, ofSequence)
      for (const view of views) view.apply(find(key), item, now())
      store(key, item)
    },
    items: rows.all,
    find,
    partition: rows.partition,
    index: (name: string): IndexView => {
      const view = views.find(({ definition }) => definition.name === name)
      if (!view) throw invalid(`The table does not have the specified index: ${name}`)
      return view
    },
  }
}
