import type { ComponentChildren } from 'preact'

export type Column<T> = {
  title: string
  cell: (row: T) => ComponentChildren
  /** Amounts and counts are aligned to the right. */
  isNumber?: boolean
}

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  return (
    <div class="scroll">
      <table class="cards" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : ''}>
                {title || <span class="hidden">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber }) => (
                <td key={title} data-title={title} class={isNumber ? 'number' : ''}>
                  <span>{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
