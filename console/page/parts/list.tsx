import type { ComponentChildren } from 'preact'
import type { NounName } from '../../../shared/operator/results.ts'
import type { FormField } from '../../server/backend.ts'
import { formOf, labelOf } from '../catalogue-fields.ts'
import { type CallOptions, type ListedRow, type ListPage, mayUse, readPage } from '../client.ts'
import { linkTo, titleOf } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useLoaded } from '../use-operator.ts'
import { Button } from './button.tsx'
import { chosen, Filters } from './field.tsx'
import { Data, Empty, type EmptyText, Panel, Screen } from './screen.tsx'
import { Table, type ViewColumns } from './table.tsx'

/** Lists of the catalogue: their filters are the options of `list`, and the address holds their values. */

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
  /** Why the list is empty without filters. */
  empty: EmptyText
  /** Why the filters exclude every row. */
  noMatch?: () => EmptyText
  /** Draws the rows, by default as a table. */
  draw?: (page: ListPage<NoInfer<T>>) => ComponentChildren
  actions?: () => ComponentChildren
}

/** How many rows a page has. */
const LIMIT = { name: 'limit', label: 'Page of', choices: ['100', '500', '1000'], initial: '100' }

/** Says that the filters exclude every row. */
export const noMatchOf = (row: string): EmptyText => [
  `No ${row} matches these filters`,
  'Clear a filter to see more.',
]

/** A list with few matches ends when its time is up. */
const NONE_YET: EmptyText = ['Nothing found so far', 'Choose “Next page” to continue the search.']

/** A text is set by the search, and a button removes it. */
const isText = ({ choices, object, type }: FormField) => !choices && !object && type === 'text'

/** Loads the page of a list that the address names, and draws it with the controls of its filters. */
const useList = <N extends NounName>(list: ListRow<N>) => {
  const { noun, options = {}, label, row = noun, entities = [], empty, draw } = list
  const { noMatch = () => noMatchOf(row) } = list
  const { screen, id, filters } = place.value
  const fields = (formOf(noun, 'list')?.fields ?? []).filter(({ name }) => !(name in options))
  const own = fields.filter(({ name }) => name !== 'cursor' && name !== 'limit')
  const entered: Partial<CallOptions> = {
    ...options,
    ...chosen(...fields.map((field) => field.name)),
  }
  const load = (signal: AbortSignal) => readPage(noun, entered, signal)
  const page = useLoaded([noun, 'page', entered], mayUse(noun) ? load : undefined, { entities })
  const limit = own.length < fields.length ? [LIMIT] : []
  const controls = [...own.filter((field) => !isText(field)), ...limit]
  const isFiltered = own.some(({ name }) => filters[name])
  const texts = own.filter((field) => isText(field) && filters[field.name])
  const pageAt = (cursor?: string): string => linkTo(screen, id, { ...filters, cursor })
  return {
    page,
    controls: (
      <>
        <Filters of={controls} />
        {texts.length > 0 && (
          <div class="row">
            {texts.map(({ name }) => (
              <Button
                key={name}
                class="small text"
                title="Remove this filter"
                onClick={() => setFilters({ [name]: undefined })}
              >
                {labelOf(name)}: <strong>{filters[name]}</strong> ✕
              </Button>
            ))}
          </div>
        )}
      </>
    ),
    shown: (
      <Data of={page}>
        {(loaded) => (
          <>
            {loaded.rows.length === 0 && (
              <Empty of={loaded.next ? NONE_YET : isFiltered ? noMatch() : empty} />
            )}
            {loaded.rows.length > 0 && (draw?.(loaded) ?? <Table {...list} rows={loaded.rows} />)}
            <nav class="row pages" aria-label={`Pages of ${label.toLowerCase()}`}>
              {!loaded.isFirst && <a href={pageAt()}>First page</a>}
              {loaded.next && <a href={pageAt(loaded.next)}>Next page</a>}
            </nav>
          </>
        )}
      </Data>
    ),
  }
}

/** A list within a screen. */
export function ListPanel<N extends NounName>(list: ListRow<N>) {
  const { controls, shown } = useList(list)
  return (
    <Panel title={list.label} actions={list.actions?.()}>
      {controls}
      {shown}
    </Panel>
  )
}

type ListScreenRow<N extends NounName, T = ListedRow<N>> = Omit<ListRow<N>, 'label'> & {
  about: () => ComponentChildren
  /** By default the title of the screen. */
  label?: string
  /** Shown above and below the list. */
  above?: (page: ListPage<NoInfer<T>>) => ComponentChildren
  below?: (page: ListPage<NoInfer<T>>) => ComponentChildren
}

/** Returns the screen of a list. */
export const listScreen =
  <N extends NounName>({ about, above, below, ...row }: ListScreenRow<N>) =>
  () => {
    const { page, controls, shown } = useList({ label: titleOf(place.value.screen), ...row })
    return (
      <Screen about={about()} actions={row.actions?.()}>
        {controls}
        {page.data && above?.(page.data)}
        {row.draw && page.data?.rows.length ? shown : <Panel>{shown}</Panel>}
        {page.data && below?.(page.data)}
      </Screen>
    )
  }
