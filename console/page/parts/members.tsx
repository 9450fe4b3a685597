import type { ComponentChildren } from 'preact'
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
  payouts_held_until: time,
  previous_until: time,
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

export const kindOf = (member: string): 'number' | 'wide' | '' => {
  if (NUMBERS.test(member)) return 'number'
  return LONG.test(member) ? 'wide' : ''
}

export const showMember = <T extends object>(view: T, member: keyof T & string) => {
  const value = view[member]
  if (typeof value !== 'string') return value as ComponentChildren
  return /^(?:.*_)?(?:at|time)$/.test(member) ? time(value) : (LOOKS[member]?.(value) ?? value)
}

/** Returns members of a view by their titles. */
export const membersOf = <T extends object>(
  view: T,
  members: Record<string, keyof T & string>,
): Record<string, ComponentChildren> =>
  Object.fromEntries(
    Object.entries(members).map(([title, member]) => [title, showMember(view, member)]),
  )
