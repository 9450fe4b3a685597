import type { ComponentChildren } from 'preact'
import { sentence } from '../catalogue-fields.ts'
import { dayText, Link, Status, Time, words } from './values.tsx'

/** The looks of the members of views, in tables and in facts. */

const link = (id: string) => <Link id={id} mayWrap />
const mono = (text: string) => <span class="mono">{text}</span>
const status = (word: string) => <Status value={word as 'open'} />
const time = (at: string) => <Time at={at} />

const LOOKS: Record<string, (text: string) => ComponentChildren> = {
  account_type: words,
  adjusted_in: link,
  batch_id: link,
  date: dayText,
  health: status,
  made_good_by: link,
  payable_on: dayText,
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

type Cell<T> = (view: T) => ComponentChildren
type Column<T> = (keyof T & string) | Cell<T> | { number: Cell<T> } | { wide: Cell<T> }

/** By title: a member, or a cell of its own. The column without a title has the actions. */
export type ViewColumns<T> = Record<string, Column<T>>

const showMember = <T extends object>(view: T, member: keyof T & string): ComponentChildren => {
  const value: unknown = view[member]
  if (typeof value !== 'string') return value as ComponentChildren
  return /(?:^|_)(?:at|since|until)$|^time$/.test(member)
    ? time(value)
    : (LOOKS[member]?.(value) ?? value)
}

/** Returns members by the titles that their names make: `completed_at` is “Completed”. */
export const named = <K extends string>(...members: K[]): Record<string, K> =>
  Object.fromEntries(members.map((name) => [sentence(words(name.replace(/_at$/, ''))), name]))

type ShownColumn<T> = { title: string; kind: 'number' | 'wide' | ''; cell: Cell<T> }

export const columnsIn = <T extends object>(columns: ViewColumns<T>): ShownColumn<T>[] =>
  Object.entries(columns).map(([title, column]) => {
    if (typeof column === 'function') return { title, kind: '', cell: column }
    if (typeof column === 'object') {
      return 'number' in column
        ? { title, kind: 'number', cell: column.number }
        : { title, kind: 'wide', cell: column.wide }
    }
    const kind = NUMBERS.test(column) ? 'number' : LONG.test(column) ? 'wide' : ''
    return { title, kind, cell: (view) => showMember(view, column) }
  })
