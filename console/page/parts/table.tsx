import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { place } from '../route.ts'
import type { Loaded } from '../use-operator.ts'
import type { FilterProps } from './filters.tsx'
import { Data, Empty, Panel, Screen, type ScreenProps } from './screen.tsx'

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

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Tables below each other have the same columns. */
  isAligned?: boolean
  /** Shown if there are no rows. */
  children?: ComponentChildren
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T>({ label, columns, rows, keyOf, isAligned, children }: TableProps<T>) {
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
                  <span>{withSeparators(column.cell(row))}</span>
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
  return <Data of={of}>{(rows) => <Table {...table} rows={rows} />}</Data>
}

/** Says that the filters exclude every row. */
export const NoMatch = ({ row }: { row: string }) => (
  <Empty title={`No ${row} matches these filters`}>Clear a filter to see more.</Empty>
)

type ListScreenProps<T> = Omit<ScreenProps, 'children'> &
  Omit<ListProps<T>, 'label'> & {
    /** Names the table, if not as the screen. */
    label?: string
    title: string
    filters?: readonly FilterProps[]
    /** Shown if the filters exclude every row. */
    noMatch?: ComponentChildren
    /** Shown below the list. */
    below?: ComponentChildren
  }

/** A screen with one list. */
export function ListScreen<T>({ title, about, actions, below, ...props }: ListScreenProps<T>) {
  const { label = title, filters = [], noMatch, children, ...list } = props
  const isFiltered = filters.some(({ name, initial }) => !initial && place.value.filters[name])
  return (
    <Screen title={title} about={about} actions={actions} filters={filters}>
      <Panel>
        <List label={label} {...list}>
          {isFiltered ? noMatch : children}
        </List>
      </Panel>
      {below}
    </Screen>
  )
}
