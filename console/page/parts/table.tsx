import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import type { Loaded } from '../use-operator.ts'
import { columnsIn, type ViewColumns } from './members.tsx'
import { Data, Empty, type EmptyText, Facts, Panel } from './screen.tsx'

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: ViewColumns<T>
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
  const shown = columnsIn(columns)
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

type ViewProps<T> = { of: T; rows: ViewColumns<T> }

/** Shows one object by the columns that a table of such objects would have. */
export const View = <T extends object>({ of, rows }: ViewProps<T>) => (
  <Facts of={Object.fromEntries(columnsIn(rows).map(({ title, cell }) => [title, cell(of)]))} />
)
