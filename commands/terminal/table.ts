import { isObject } from '../../shared/domain/json.ts'
import { printable } from '../../shared/domain/text.ts'

/** Formats results for a terminal; programs read JSON. */

const CELL_MAX = 40
/** Never cut, because operators copy it. */
const COMMAND = 'command'
/** Columns that are shown last. */
const LAST = new Set(['uuid', 'currency'])
const GAP = 2

type ResultRow = Record<string, unknown>

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return printable(value.join(', '))
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const isShort = (value: unknown): boolean => typeof value !== 'object' || value === null

const membersOf = (rows: readonly ResultRow[]) => new Set(rows.flatMap(Object.keys))

const cellOf = (row: ResultRow, name: string): string => {
  const text = textOf(row[name])
  return text.length > CELL_MAX && name !== COMMAND ? `${text.slice(0, CELL_MAX - 1)}…` : text
}

/** Returns the columns that fit into the width, in the order of the members. */
const columnsOf = (rows: readonly ResultRow[], width: number): [name: string, width: number][] => {
  const all = membersOf(rows)
  // A reference names a debit well enough.
  if (all.has('reference') && all.has('uuid')) for (const name of ['id', 'uuid']) all.delete(name)
  const names = [...all]
    .filter((name) => rows.every((row) => isShort(row[name])))
    .toSorted((one, other) => Number(LAST.has(one)) - Number(LAST.has(other)))
  const columns: [string, number][] = []
  let used = 0
  for (const name of names) {
    const lengths = rows.map((row) => cellOf(row, name).length)
    const own = Math.max(name.length, ...lengths)
    // A narrow column can follow one that does not fit.
    if (columns.length > 0 && used + own > width) continue
    used += own + GAP
    columns.push([name, own])
  }
  return columns
}

const gridOf = (rows: readonly ResultRow[], width: number): string => {
  const columns = columnsOf(rows, width)
  const line = (textIn: (name: string) => string) =>
    columns
      .map(([name, own]) => textIn(name).padEnd(own + GAP))
      .join('')
      .trimEnd()
  const shown = columns.map(([name]) => name)
  const hidden = [...membersOf(rows)].filter((name) => !shown.includes(name))
  return [
    line((name) => name),
    ...rows.map((row) => line((name) => cellOf(row, name))),
    ...(hidden.length > 0 ? [`not shown: ${hidden.join(', ')} (--output json)`] : []),
  ].join('\n')
}

/**
 * Returns a table of a list, and a line for each member of another object; a long member has lines of its own.
 * @param hasNext whether another page follows, also after an empty one
 */
export const tableOf = (result: unknown, width: number, hasNext = false): string => {
  if (Array.isArray(result) && result.length === 0) {
    return hasNext ? 'none so far: continue with --cursor' : 'none'
  }
  if (Array.isArray(result) && result.every(isObject)) return gridOf(result, width)
  if (!isObject(result)) return textOf(result)
  const longest = Math.max(...Object.keys(result).map(({ length }) => length))
  return Object.entries(result)
    .map(([name, value]) => {
      const line = `${name.padEnd(longest)}  ${textOf(value)}`
      const isBlock = Array.isArray(value)
        ? value.length > 0 && value.every(isObject)
        : isObject(value) && line.length > width
      return isBlock
        ? `${name}\n${tableOf(value, width - GAP).replaceAll(/^/gm, ' '.repeat(GAP))}`
        : line
    })
    .join('\n')
}
