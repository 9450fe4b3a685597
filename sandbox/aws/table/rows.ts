import { compareText } from './values.ts'

/** A row of the table or of an index. */
export type Row = { readonly [name: string]: unknown; readonly pk: string; readonly sk: string }

/** Returns the position of the first row for which `isBefore` is false. */
export const firstNot = <T>(rows: readonly T[], isBefore: (row: T) => boolean): number => {
  let from = 0
  let to = rows.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(rows[middle] as T)) from = middle + 1
    else to = middle
  }
  return from
}

/** Compares rows by a sort key, then by the keys of the table. */
export const orderBy =
  (sortKey: string) =>
  (one: Row, other: Row): number =>
    compareText(one[sortKey] as string, other[sortKey] as string) ||
    compareText(one.pk, other.pk) ||
    compareText(one.sk, other.sk)

/** Returns the partitions of the table or of an index, each in its order. */
export const newRows = <T extends Row>(order: (one: Row, other: Row) => number) => {
  const partitions = new Map<string, T[]>()

  const locate = (partition: string, place: Row) => {
    const rows = partitions.get(partition) ?? []
    const at = firstNot(rows, (row) => order(row, place) < 0)
    const row = rows[at]
    return { rows, at, row: row && order(row, place) === 0 ? row : undefined }
  }

  return {
    /** Returns the row at the place of another one. */
    find: (partition: string, place: Row): T | undefined => locate(partition, place).row,
    /** Adds a row, in the place of an equal one. */
    add: (partition: string, row: T): void => {
      const { rows, at, row: previous } = locate(partition, row)
      if (rows.length === 0) partitions.set(partition, rows)
      rows.splice(at, previous ? 1 : 0, row)
    },
    remove: (partition: string, place: Row): void => {
      const { rows, at, row } = locate(partition, place)
      if (row) rows.splice(at, 1)
      if (rows.length === 0) partitions.delete(partition)
    },
    partition: (name: string): readonly T[] => partitions.get(name) ?? [],
    all: (): T[] => [...partitions.values()].flat(),
  }
}
