import type { ComponentChildren } from 'preact'

export type Column<T> = {
  title: string
  cell: (row: T) => ComponentChildren
  /** Amounts and counts are aligned to the right. */
  isNumber?: boolean
  /** Uses the whole width of a card. */
  isWide?: boolean
}

const classOf = ({ isNumber, isWide }: Pick<Column<never>, 'isNumber' | 'isWide'>): string =>
  isNumber ? 'number' : isWide ? 'wide' : ''

export type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Shown if there are no rows. */
  children?: ComponentChildren
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T>({ label, columns, rows, keyOf, children }: TableProps<T>) {
  if (rows.length === 0 && children) return <>{children}</>
  return (
    <div class="scroll">
      <table class="cards" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title || <span class="hidden">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} data-title={column.title} class={classOf(column)}>
                  <span>{column.cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
