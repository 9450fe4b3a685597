import type { ComponentChildren } from 'preact'
import type { NounName, ResultOf } from '../../../shared/operator/results.ts'
import type { FormField } from '../../server/backend.ts'
import { formOf, labelOf } from '../catalogue-fields.ts'
import { type CallOptions, type ListPage, listPage, mayUse } from '../client.ts'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { type Loaded, useCall } from '../use-operator.ts'
import { chosen, Filters, limitFilter } from './filters.tsx'
import { Data, Empty, type EmptyText, Panel, Screen } from './screen.tsx'
import { Table, type ViewColumns } from './table.tsx'

/** Lists of the catalogue: their filters are the options of `list`, and the address holds their values. */

/** A row of the list of a noun. */
type ListedRow<N extends NounName> =
  ResultOf<N, 'list'> extends readonly (infer T extends object)[] ? T : never

type ListRow<N extends NounName, T = ListedRow<N>> = {
  noun: N
  /** Names the table. */
  label: string
  /** The name of a row, by default the noun. */
  row?: string
  /** Options that the list has anyway. */
  options?: Partial<CallOptions> | undefined
  /** The items whose changes concern the list. */
  entities?: readonly string[]
  columns: ViewColumns<NoInfer<T>>
  keyOf: (row: NoInfer<T>) => string | number
  /** Why the list is empty without filters. */
  empty: EmptyText
  /** Why the filters exclude every row. */
  noMatch?: () => EmptyText
  /** Draws the rows, by default as a table. */
  draw?: (page: ListPage<NoInfer<T>>) => ComponentChildren
  actions?: () => ComponentChildren
}

/** The options of a list that the address can hold. */
const optionsOf = (noun: NounName, preset: Partial<CallOptions> = {}) => {
  const fields = (formOf(noun, 'list')?.fields ?? []).filter(({ name }) => !(name in preset))
  const filters = fields.filter(({ name }) => name !== 'cursor' && name !== 'limit')
  const isText = ({ choices, object, type }: FormField) => !choices && !object && type === 'text'
  return {
    names: fields.map(({ name }) => name),
    filters,
    /** A text is set by the search, and a button removes it. */
    texts: filters.filter(isText),
    controls: [
      ...filters.filter((field) => !isText(field)),
      ...(filters.length < fields.length ? [limitFilter] : []),
    ],
  }
}

/** Loads the page of a list that the address names. */
const useList = <N extends NounName>({ noun, options, entities = [] }: ListRow<N>) => {
  const entered = chosen(...optionsOf(noun, options).names)
  const call = { ...options, ...entered }
  const load = (signal: AbortSignal) => listPage<ListedRow<N>>(noun, call, signal)
  return useCall([noun, 'list', call, 'page'], mayUse(noun) ? load : undefined, { entities })
}

type ControlsProps = Pick<ListRow<NounName>, 'noun' | 'options'>

const Controls = ({ noun, options }: ControlsProps) => {
  const { controls, texts } = optionsOf(noun, options)
  const set = texts.filter(({ name }) => place.value.filters[name])
  return (
    <>
      <Filters of={controls} />
      {set.length > 0 && (
        <div class="row">
          {set.map(({ name }) => (
            <button
              key={name}
              type="button"
              class="small text"
              title="Remove this filter"
              onClick={() => setFilters({ [name]: undefined })}
            >
              {labelOf(name)}: <strong>{place.value.filters[name]}</strong> ✕
            </button>
          ))}
        </div>
      )}
    </>
  )
}

/** Says that the filters exclude every row. */
export const noMatchOf = (row: string): EmptyText => [
  `No ${row} matches these filters`,
  'Clear a filter to see more.',
]

type PageProps<N extends NounName> = ListRow<N> & { of: Loaded<ListPage<ListedRow<N>>> }

const Page = <N extends NounName>({ of, ...list }: PageProps<N>) => {
  const { noun, options, label, row = noun, empty, draw, noMatch = () => noMatchOf(row) } = list
  const isFiltered = optionsOf(noun, options).filters.some(({ name }) => place.value.filters[name])
  const { screen, id, filters } = place.value
  const pageAt = (cursor?: string): string => linkTo(screen, id, { ...filters, cursor })
  return (
    <Data of={of}>
      {(page) => (
        <>
          {page.rows.length === 0 && <Empty of={isFiltered ? noMatch() : empty} />}
          {page.rows.length > 0 && (draw?.(page) ?? <Table {...list} rows={page.rows} />)}
          <nav class="row pages" aria-label={`Pages of ${label.toLowerCase()}`}>
            {!page.isFirst && <a href={pageAt()}>Newest</a>}
            {page.next && <a href={pageAt(page.next)}>Older</a>}
          </nav>
        </>
      )}
    </Data>
  )
}

/** A list within a screen. */
export function ListPanel<N extends NounName>(list: ListRow<N>) {
  const page = useList(list)
  return (
    <Panel title={list.label} actions={list.actions?.()}>
      <Controls noun={list.noun} options={list.options} />
      <Page {...list} of={page} />
    </Panel>
  )
}

type ListScreenRow<N extends NounName, T = ListedRow<N>> = Omit<ListRow<N>, 'label'> & {
  title: string
  about: () => ComponentChildren
  label?: string
  /** Shown above and below the list. */
  above?: (page: ListPage<NoInfer<T>>) => ComponentChildren
  below?: (page: ListPage<NoInfer<T>>) => ComponentChildren
}

/** Returns the screen of a list. */
export const listScreen =
  <N extends NounName>({ title, about, above, below, ...row }: ListScreenRow<N>) =>
  () => {
    const list = { label: title, ...row }
    const page = useList(list)
    const shown = <Page {...list} of={page} />
    return (
      <Screen title={title} about={about()} actions={list.actions?.()}>
        <Controls noun={list.noun} options={list.options} />
        {page.data && above?.(page.data)}
        {list.draw && page.data?.rows.length ? shown : <Panel>{shown}</Panel>}
        {page.data && below?.(page.data)}
      </Screen>
    )
  }
