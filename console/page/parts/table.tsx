import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import type { Loaded } from '../use-operator.ts'
import { Data } from './screen.tsx'

export type Column<T> = {
  title: string
  cell: (row: T, reload: () => void) => ComponentChildren
  /** Amounts and counts are aligned to the right. */
  isNumber?: boolean
  /** Uses the whole width of a card. */
  isWide?: boolean
}

const classOf = ({ isNumber, isWide }: Pick<Column<never>, 'isNumber' | 'isWide'>): string =>
  isNumber ? 'number' : isWide ? 'wide' : ''

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Tables below each other have the same columns. */
  isAligned?: boolean
  /** Loads the rows again, after a call of a cell. */
  reload?: () => void
  /** Shown if there are no rows. */
  children?: ComponentChildren
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T>({ label, columns, rows, keyOf, isAligned, ...props }: TableProps<T>) {
  const { reload = () => undefined, children } = props
  if (rows.length === 0 && children) return <>{children}</>
  return (
    <div class="scroll">
      <table class={isAligned ? 'cards aligned' : 'cards'} aria-label={label}>
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
                  <span>{withSeparators(column.cell(row, reload))}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type ListProps<T> = Omit<TableProps<T>, 'rows'> & { of: Loaded<readonly T[]> }

/** Loaded rows as a table, or the children if there are none. */
export function List<T>({ of, ...table }: ListProps<T>) {
  return <Data of={of}>{(rows) => <Table {...table} rows={rows} reload={of.reload} />}</Data>
}
