import type { Item } from './change.ts'
import { firstNot } from './sorted-rows.ts'
import { compareText } from './values.ts'

/** The items of a table: partitions, each sorted by sort key. */
export type Rows = {
  find: (key: { pk: string; sk: string }) => Item | undefined
  /** Stores an item under its key; undefined deletes it. */
  set: (key: { pk: string; sk: string }, item: Item | undefined) => void
  partition: (pk: string) => readonly Item[]
  all: () => Item[]
}

const NONE: readonly Item[] = []

export const newRows = (): Rows => {
  const partitions = new Map<string, Item[]>()

  const find = ({ pk, sk }: { pk: string; sk: string }): Item | undefined => {
    const rows = partitions.get(pk)
    if (!rows) return undefined
    const row = rows[positionOf(rows, sk)]
    return row?.sk === sk ? row : undefined
  }

  const set = ({ pk, sk }: { pk: string; sk: string }, item: Item | undefined): void => {
    const rows = partitions.get(pk)
    if (!rows) {
      if (item) partitions.set(pk, [item])
      return
    }
    const at = positionOf(rows, sk)
    const count = rows[at]?.sk === sk ? 1 : 0
    if (!item) rows.splice(at, count)
    else if (count === 1) rows[at] = item
    else rows.splice(at, 0, item)
    if (rows.length === 0) partitions.delete(pk)
  }

  return {
    find,
    set,
    partition: (pk) => partitions.get(pk) ?? NONE,
    all: () => [...partitions.values()].flat(),
  }
}

const positionOf = (rows: readonly Item[], sk: string): number =>
  firstNot(rows, (row) => compareText(row.sk, sk) < 0)
