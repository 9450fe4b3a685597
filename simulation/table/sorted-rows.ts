import type { KeyRange } from './key-conditions.ts'
import { compareText } from './values.ts'

/** Rows in the order of their sort keys, as they lie in one partition. */

/** A row as it lies in the table or in an index. */
export type Row = { readonly [name: string]: unknown; readonly pk: string; readonly sk: string }

/** The first position whose row is not before what is looked for. */
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

const textOf = (row: Row, sortKey: string): string => row[sortKey] as string

/** From which position up to which (not in it) rows are in a range. */
export const within = (
  rows: readonly Row[],
  sortKey: string,
  { low, high, prefix }: KeyRange,
): [from: number, to: number] => {
  if (prefix !== undefined) {
    const from = firstNot(rows, (row) => compareText(textOf(row, sortKey), prefix) < 0)
    const to = firstNot(rows, (row) => {
      const text = textOf(row, sortKey)
      return text.startsWith(prefix) || compareText(text, prefix) < 0
    })
    return [from, to]
  }
  const from = low ? beside(rows, sortKey, low.text, !low.isIn) : 0
  const to = high ? beside(rows, sortKey, high.text, high.isIn) : rows.length
  return [from, Math.max(from, to)]
}

/** The position after or before all rows of a sort key. */
const beside = (rows: readonly Row[], sortKey: string, text: string, isAfter: boolean): number =>
  firstNot(rows, (row) => {
    const order = compareText(textOf(row, sortKey), text)
    return isAfter ? order <= 0 : order < 0
  })
