import type { KeyRange } from './key-conditions.ts'
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

const textOf = (row: Row, sortKey: string): string => row[sortKey] as string

/** Returns the span of rows in a key range; the end is excluded. */
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
  const from = low ? edge(rows, sortKey, low.text, !low.isIncluded) : 0
  const to = high ? edge(rows, sortKey, high.text, high.isIncluded) : rows.length
  return [from, Math.max(from, to)]
}

/** Returns the position before or behind the rows with a sort key. */
const edge = (rows: readonly Row[], sortKey: string, text: string, isAfter: boolean): number =>
  firstNot(rows, (row) => {
    const order = compareText(textOf(row, sortKey), text)
    return isAfter ? order <= 0 : order < 0
  })
