import { printable } from '../../shared/domain/text.ts'

/** Formats results for a terminal; programs read JSON. */

const CELL_MAX = 40
const GAP = 2

type ResultRow = Record<string, unknown>

const isRow = (value: unknown): value is ResultRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return printable(value.join(', '))
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const isShort = (value: unknown): boolean => typeof value !== 'object' || value === null

const membersOf = (rows: readonly ResultRow[]) => new Set(rows.flatMap(Object.keys))

/** Returns the columns that fit into the width, in the order of the members. */
const columnsOf = (rows: readonly ResultRow[], width: number): [name: string, width: number][] => {
  const all = membersOf(rows)
  // A reference names a debit well enough.
  if (all.has('reference') && all.has('uuid')) for (const name of ['id', 'uuid']) all.delete(name)
  const names = [...all].filter((name) => rows.every((row) => isShort(row[name])))
  const columns: [string, number][] = []
  let used = 0
  for (const name of names) {
    const lengths = rows.map((row) => Math.min(textOf(row[name]).length, CELL_MAX))
    const own = Math.max(name.length, ...lengths)
    // A narrow column can follow one that does not fit.
    if (columns.length > 0 && used + own > width) continue
    used += own + GAP
    columns.push([name, own])
  }
  return columns
}

const cut = (text: string): string =>
  text.length > CELL_MAX ? `${text.slice(0, CELL_MAX - 1)}…` : text

const gridOf = (rows: readonly ResultRow[], width: number): string => {
  const columns = columnsOf(rows, width)
  const line = (cellOf: (name: string) => string) =>
    columns
      .map(([name, own]) => cellOf(name).padEnd(own + GAP))
      .join('')
      .trimEnd()
  const shown = columns.map(([name]) => name)
  const hidden = [...membersOf(rows)].filter((name) => !shown.includes(name))
  return [
    line((name) => name),
    ...rows.map((row) => line((name) => cut(textOf(row[name])))),
    ...(hidden.length > 0 ? [`not shown: ${hidden.join(', ')} (--output json)`] : []),
  ].join('\n')
}

/**
 * Returns a table of a list, and a line for each member of another object.
 * @param hasNext whether another page follows, also after an empty one
 */
export const tableOf = (result: unknown, width: number, hasNext = false): string => {
  if (Array.isArray(result) && result.length === 0) {
    return hasNext ? 'none so far: continue with --cursor' : 'none'
  }
  if (Array.isArray(result) && result.every(isRow)) return gridOf(result, width)
  if (!isRow(result)) return textOf(result)
  const longest = Math.max(...Object.keys(result).map(({ length }) => length))
  return Object.entries(result)
    .map(([name, value]) =>
      Array.isArray(value) && value.length > 0 && value.every(isRow)
        ? `${name}\n${gridOf(value, width - GAP).replaceAll(/^/gm, ' '.repeat(GAP))}`
        : `${name.padEnd(longest)}  ${textOf(value)}`,
    )
    .join('\n')
}
