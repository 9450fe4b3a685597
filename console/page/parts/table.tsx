import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { sentence } from '../catalogue-fields.ts'
import type { Loaded } from '../use-operator.ts'
import { Data, Empty, type EmptyText, Facts, Panel } from './screen.tsx'
import { dayText, Link, Status, Time, words } from './values.tsx'

/** The looks of the members of views, in tables and in facts. */

const mono = (text: string) => <span class="mono">{text}</span>
const status = (word: string) => <Status value={word as 'open'} />

const LOOKS: Record<string, (text: string) => ComponentChildren> = {
  account_type: words,
  bank: (id) => <Link to="bank" id={id} mayWrap />,
  kind: words,
  date: dayText,
  health: status,
  payable_on: dayText,
  provider: (id) => <Link to="provider" id={id} mayWrap />,
  reference: (id) => <Link id={id} />,
  requested_by: mono,
  status,
  url: mono,
  uuid: mono,
}

/** Amounts and counts are aligned to the right. */
const NUMBERS =
  /^(?:adjustments|amount|checked|completed|count|credit|daily_limit|debits?|failed|fee|gross|line|maximum|net|number|payouts|receivable|refunds|remitted)$/

/** Long texts use the whole width of a card. */
const LONG = /^(?:description|detail|narration|outcome|partner_reference|reason|summary|url)$/

/** The members that identify a row without an id. */
const IDENTITY =
  /^(?:account|at|bank|check|date|day|identifier|kind|line|name|noun|number|phone|provider|reason|reference|subject|target|time|title|type|uuid|verb)$/

const keyOf = (row: object): string =>
  'id' in row
    ? String(row.id)
    : Object.entries(row)
        .filter(([name, value]) => IDENTITY.test(name) && typeof value !== 'object')
        .join()

type Cell<T> = (view: T) => ComponentChildren
type Column<T> = (keyof T & string) | Cell<T> | { number: Cell<T> } | { wide: Cell<T> }

/** By title: a member, or a cell of its own. The column without a title has the actions. */
export type ViewColumns<T> = Record<string, Column<T>>

const showMember = <T extends object>(view: T, member: keyof T & string): ComponentChildren => {
  const value: unknown = view[member]
  if (typeof value !== 'string') return value as ComponentChildren
  return /(?:^|_)(?:at|since|until)$|^time$/.test(member) ? (
    <Time at={value} />
  ) : (
    (LOOKS[member]?.(value) ?? value)
  )
}

/** The titles that the names of members do not make. */
const TITLES: Record<string, string> = {
  ...{ uuid: 'UUID', url: 'URL', date: 'Day', phone_number: 'Customer' },
  ...{ bank_reference: 'Bank’s reference', partner_reference: 'Provider’s reference' },
}

type MemberIn<C> = C extends `${infer M} as ${string}` ? M : C

/** Returns members by their titles: `fee as Fees`, or `completed_at`, whose title is “Completed”. */
export const named = <const C extends string>(...columns: C[]): Record<string, MemberIn<C>> =>
  Object.fromEntries(
    columns.map((column) => {
      const [name = '', title = TITLES[name]] = column.split(' as ')
      return [title ?? sentence(words(name.replace(/_at$/, ''))), name as MemberIn<C>]
    }),
  )

type ShownColumn<T> = { title: string; kind: string; cell: Cell<T> }

/** Other texts that look like amounts, such as references, stay as they are. */
const shownAs = <T,>(kind: string, cell: Cell<T>): Omit<ShownColumn<T>, 'title'> => ({
  kind,
  cell: kind === 'number' ? (view) => withSeparators(cell(view)) : cell,
})

const columnsIn = <T extends object>(columns: ViewColumns<T>): ShownColumn<T>[] =>
  Object.entries(columns).flatMap(([title, column]): ShownColumn<T> | ShownColumn<T>[] => {
    if (typeof column === 'function') return { title, kind: '', cell: column }
    if (typeof column === 'object') {
      return Object.entries(column).map(([kind, cell]) => ({ title, ...shownAs(kind, cell) }))
    }
    const kind = NUMBERS.test(column) ? 'number' : LONG.test(column) ? 'wide' : ''
    return { title, ...shownAs(kind, (view) => showMember(view, column)) }
  })

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string
  columns: ViewColumns<NoInfer<T>>
  rows: readonly T[]
  /** Tables below each other have the same columns. */
  isAligned?: boolean
  empty?: EmptyText
}

/** Shows rows; on a narrow screen each row is a card. */
export function Table<T extends object>(props: TableProps<T>) {
  const { label, columns, rows, isAligned, empty } = props
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

type TablePanelProps<T> = Omit<TableProps<T>, 'rows' | 'label'> & {
  title?: string
  /** By default the title. */
  label?: string
  actions?: ComponentChildren
  of: readonly T[] | Loaded<readonly T[]>
}

/** A panel with rows, or with those that are loaded. */
export const TablePanel = <T extends object>(props: TablePanelProps<T>) => {
  const { title, label = title ?? '', actions, of, ...table } = props
  const draw = (rows: readonly T[]) => <Table {...table} label={label} rows={rows} />
  return (
    <Panel title={title} actions={actions}>
      {'reload' in of ? <Data of={of}>{draw}</Data> : draw(of)}
    </Panel>
  )
}

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

/** Shows one object by the columns that a table of such objects would have. */
export function View<T extends object>({ of, rows }: { of: T; rows: ViewColumns<NoInfer<T>> }) {
  return <Facts of={Object.fromEntries(columnsIn(rows).map((row) => [row.title, row.cell(of)]))} />
}
