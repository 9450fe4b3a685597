import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import type { Loaded } from '../use-operator.ts'
import { kindOf, showMember } from './members.tsx'
import { Data, Empty, type EmptyText, Panel } from './screen.tsx'

type Cell<T> = (row: T) => ComponentChildren
type Column<T> = (keyof T & string) | Cell<T> | { number: Cell<T> } | { wide: Cell<T> }

/** By title: a member of the row, or a cell of its own. The column without a title has the actions. */
export type Columns<T> = Record<string, Column<T>>

const partsOf = <T extends object>(column: Column<T>): { kind: string; cell: Cell<T> } => {
  if (typeof column === 'function') return { kind: '', cell: column }
  if (typeof column === 'string')
    return { kind: kindOf(column), cell: (row) => showMember(row, column) }
  return 'number' in column
    ? { kind: 'number', cell: column.number }
    : { kind: 'wide', cell: column.wide }
}

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: Columns<T>
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Tables below each other have the same columns. */
  isAligned?: boolean
  empty?: EmptyText
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T extends object>(props: TableProps<T>) {
  const { label, columns, rows, keyOf, isAligned, empty } = props
  if (rows.length === 0 && empty) return <Empty of={empty} />
  const shown = Object.entries(columns).map(([title, of]) => ({ title, ...partsOf(of) }))
  return (
    <div class="scroll">
      <table class={isAligned ? 'cards aligned' : 'cards'} aria-label={label}>
        <thead>
          <tr>
            {shown.map(({ title, kind }) => (
              <th key={title} scope="col" class={kind}>
                {title || <span class="hidden">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ title, kind, cell }) => (
                <td key={title} data-title={title} class={kind}>
                  <span>{withSeparators(cell(row))}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type TablePanelProps<T> = Omit<TableProps<T>, 'rows'> & {
  title?: string
  actions?: ComponentChildren
  of: Loaded<readonly T[]>
}

/** A panel with loaded rows. */
export const TablePanel = <T extends object>({
  title,
  actions,
  of,
  ...table
}: TablePanelProps<T>) => (
  <Panel title={title} actions={actions}>
    <Data of={of}>{(rows) => <Table {...table} rows={rows} />}</Data>
  </Panel>
)

const ROWS_MAX = 500

/** The first rows of a document, whose CSV file has all. */
export const FirstRows = <T extends object>({ rows, ...table }: TableProps<T>) => (
  <>
    <Table {...table} rows={rows.slice(0, ROWS_MAX)} />
    {rows.length > ROWS_MAX && (
      <p class="muted">
        The first {ROWS_MAX} of {rows.length}. The CSV file has all.
      </p>
    )}
  </>
)
