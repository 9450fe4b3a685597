import type { ComponentChildren } from 'preact'
import type { NounName, ResultOf } from '../../../shared/operator/results.ts'
import { fieldsOf } from '../catalogue-fields.ts'
import { type CallOptions, type ListPage, listPage, mayUse } from '../client.ts'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { type Loaded, useCall } from '../use-operator.ts'
import { chosen, type FilterProps, Filters, limitFilter } from './filters.tsx'
import { Data, Empty, Panel, Screen } from './screen.tsx'
import { type Column, Table } from './table.tsx'

/** Lists of the catalogue: their filters are the options of `list`, and the address holds their values. */

/** The nouns whose lists have such rows. */
type NounWith<T> = {
  [N in NounName]: ResultOf<N, 'list'> extends readonly T[] ? N : never
}[NounName]

type ListRow<T> = {
  noun: NounWith<T>
  /** Names the table. */
  label: string
  /** The name of a row, by default the noun. */
  row?: string
  /** Options that the list has anyway. */
  options?: CallOptions
  /** The items whose changes concern the list. */
  entities?: readonly string[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string | number
  /** Why the list is empty without filters. */
  empty: readonly [title: string, text: ComponentChildren]
  /** Why the filters exclude every row. */
  noMatch?: () => ComponentChildren
  /** Draws the rows, by default as a table. */
  draw?: (page: ListPage<T>) => ComponentChildren
}

/** Returns the controls of a list: a text is set by the search, and a button removes it. */
const controlsOf = (noun: NounName, preset: CallOptions) => {
  const fields = fieldsOf(noun, 'list').filter(({ name }) => preset[name] === undefined)
  const isText = ({ choices, object, type }: (typeof fields)[number]): boolean =>
    !choices && !object && type === 'text'
  const own = fields.filter(({ name }) => name !== 'cursor' && name !== 'limit')
  return {
    names: fields.map(({ name }) => name),
    texts: own.filter(isText),
    filters: own
      .filter((field) => !isText(field))
      .map(({ name, label, choices, object, type }): FilterProps => {
        return { name, label, options: choices, object, type: type === 'date' ? type : undefined }
      }),
    hasLimit: fields.length > own.length,
  }
}

/** Loads the page of a list that the address names. */
const useList = <T,>({ noun, options = {}, entities = [] }: ListRow<T>): Loaded<ListPage<T>> => {
  const call = { ...options, ...(chosen(...controlsOf(noun, options).names) as CallOptions) }
  const load = () => listPage<T>(noun, call)
  return useCall([noun, 'list', call, 'page'], mayUse(noun) ? load : undefined, { entities })
}

const Controls = ({ noun, options = {} }: { noun: NounName; options?: CallOptions }) => {
  const { filters, texts, hasLimit } = controlsOf(noun, options)
  const set = texts.filter(({ name }) => place.value.filters[name])
  return (
    <>
      <Filters of={[...filters, ...(hasLimit ? [limitFilter] : [])]} />
      {set.length > 0 && (
        <div class="row">
          {set.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              class="small text"
              title="Remove this filter"
              onClick={() => setFilters({ [name]: undefined })}
            >
              {label}: <strong>{place.value.filters[name]}</strong> ✕
            </button>
          ))}
        </div>
      )}
    </>
  )
}

const Page = <T,>({ of, ...props }: ListRow<T> & { of: Loaded<ListPage<T>> }) => {
  const { noun, options = {}, label, row = noun, columns, keyOf, empty, draw, noMatch } = props
  const { texts, filters: controls } = controlsOf(noun, options)
  const filters = chosen(...[...texts, ...controls].map(({ name }) => name))
  const { screen, id, filters: all } = place.value
  const pageAt = (cursor?: string): string => linkTo(screen, id, { ...all, cursor })
  const table = ({ rows }: ListPage<T>) => (
    <Table label={label} columns={columns} rows={rows} keyOf={keyOf} reload={of.reload} />
  )
  return (
    <Data of={of}>
      {(page) => (
        <>
          {page.rows.length > 0 && (draw ?? table)(page)}
          {page.rows.length === 0 &&
            (Object.keys(filters).length > 0 ? (
              (noMatch?.() ?? <NoMatch row={row} />)
            ) : (
              <Empty title={empty[0]}>{empty[1]}</Empty>
            ))}
          <nav class="row pages" aria-label={`Pages of ${label.toLowerCase()}`}>
            {!page.isFirst && <a href={pageAt()}>Newest</a>}
            {page.next && <a href={pageAt(page.next)}>Older</a>}
          </nav>
        </>
      )}
    </Data>
  )
}

/** Says that the filters exclude every row. */
export const NoMatch = ({ row }: { row: string }) => (
  <Empty title={`No ${row} matches these filters`}>Clear a filter to see more.</Empty>
)

type PanelListRow<T> = ListRow<T> & { actions?: (reload: () => void) => ComponentChildren }

/** A list within a screen. */
export function ListPanel<T>({ actions, ...list }: PanelListRow<T>) {
  const page = useList(list)
  return (
    <Panel title={list.label} actions={actions?.(page.reload)}>
      <Controls {...list} />
      <Page {...list} of={page} />
    </Panel>
  )
}

type ListScreenRow<T> = Omit<PanelListRow<T>, 'label'> & {
  title: string
  about: () => ComponentChildren
  label?: string
  /** Shown above and below the list. */
  above?: (page: ListPage<T>) => ComponentChildren
  below?: (page: ListPage<T>) => ComponentChildren
}

/** Returns the screen of a list. */
export const listScreen =
  <T,>({ title, about, actions, above, below, ...row }: ListScreenRow<T>) =>
  () => {
    const list = { label: title, ...row }
    const page = useList(list)
    const shown = <Page {...list} of={page} />
    return (
      <Screen title={title} about={about()} actions={actions?.(page.reload)}>
        <Controls {...list} />
        {page.data && above?.(page.data)}
        {list.draw && page.data?.rows.length ? shown : <Panel>{shown}</Panel>}
        {page.data && below?.(page.data)}
      </Screen>
    )
  }
