import type { ComponentChildren } from 'preact'
import { place } from '../route.ts'
import type { Loaded } from '../use-operator.ts'
import type { FilterProps } from './filters.tsx'
import { Panel, Screen, type ScreenProps } from './screen.tsx'
import { Data, Empty } from './states.tsx'
import { Table, type TableProps } from './table.tsx'

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
  const isFiltered = filters.some(({ name }) => place.value.filters[name])
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
