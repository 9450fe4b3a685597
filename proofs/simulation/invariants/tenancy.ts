import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall } from '../engine/observations.ts'
import { isAccepted, type Members, membersOf } from './calls.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { entriesOf, ownerIn, type RawDebit } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { dayOf, debitNumber, inGhs, MINUTE_MS } from './time-and-money.ts'

/** Providers and banks see all of their own objects and no others. */

/** Rejected before the object was read, or because it belongs to another one. */
const UNRELATED = new Set([400, 401, 403, 404, 422, 429])

const isOwn = ({ caller }: ApiCall, { item }: DebitHistory): boolean =>
  caller?.id === (caller?.kind === 'bank' ? item.bank.identifier : item.provider)

/** A delivery id is the debit's number followed by the event's. */
const EVENTS_MAX = 100

const debitsAreReadByTheirOwn: Check = ({ observations, debits }, report) => {
  const byNumber = new Map([...debits].map(([name, debit]) => [debitNumber(name), debit]))
  for (const call of observations.calls) {
    const { name, path, reply, caller } = call
    const number = name === 'redeliver-event' ? Number(path.id) / EVENTS_MAX : Number.NaN
    const debit = debits.get(String(path.reference)) ?? byNumber.get(Math.floor(number))
    const isShown = reply && reply.status < 500 && !UNRELATED.has(reply.status)
    if (debit && isShown && !isOwn(call, debit))
      report(debit.item.reference, `was shown to ${caller?.id} by ${name}`)
  }
}

const debitsAreChangedByTheirOwn: Check = ({ reports, byUuid, changesBy }, report) => {
  for (const { call, uuid, bank, code } of reports) {
    const debit = byUuid.get(uuid)
    if (!debit || isOwn(call, debit)) continue
    const writes = changesBy.get(call.invocation) ?? []
    const isWritten = writes.some(({ after }) => after?.pk === debit.item.pk)
    // An invalid transition reveals that the debit exists.
    if (isAccepted(call) || code === 3001 || isWritten)
      report(debit.item.reference, `was changed or revealed to ${bank}`)
  }
}

const REFERENCE = /[A-Z]{3}-[0-9]{8}-[A-Z0-9]{6}/g

const repliesNameOwnObjects: Check = ({ observations, debits, batches }, report) => {
  for (const { caller, name, reply } of observations.calls) {
    for (const [reference] of (caller && reply?.raw?.matchAll(REFERENCE)) ?? []) {
      const debit = debits.get(reference)?.item
      const owner = debit ?? batches.get(reference)?.item
      const id = caller?.kind === 'bank' ? debit?.bank.identifier : owner?.provider
      if (owner && id !== caller?.id) report(reference, `was named to ${caller?.id} by ${name}`)
    }
  }
}

/** Callers read each list page by page in the last half hour. */
const READ_MS = 30 * MINUTE_MS

/** The kind of the items in a list. */
const LISTED: Record<string, string> = {
  'list-debit-requests': 'debit',
  'list-events': 'feed-page',
  'list-settlements': 'batch',
  'list-debit-transactions': 'debit',
  'manage-debit': 'debit',
  'manage-delivery': 'delivery',
  'manage-exception': 'exception',
  'manage-change': 'change',
  'manage-approval': 'approval',
}

/** Returns the debits of a bank's list, which names its customer and status. */
const inListOf = ({ debits }: ObservationIndex, bank: unknown, list: Members) =>
  [...debits.values()].filter(
    ({ item }) =>
      item.bank.identifier === bank &&
      item.phone === list.phone_number &&
      item.status === list.status_filter,
  )

const bankListsIn = ({ observations: { calls } }: ObservationIndex) =>
  calls.flatMap(({ name, caller, reply }) => {
    const isList = name === 'list-debit-transactions' && reply?.status === 200
    return isList ? [{ bank: caller?.id, list: membersOf(membersOf(reply.body).data) }] : []
  })

/** Returns the entities of the last half hour's changes: a debit can be reversed meanwhile. */
const changingIn = ({ observations: { changes }, setup }: ObservationIndex) =>
  new Set(changes.map(({ after, at }) => at >= setup.endedAt - READ_MS && after?.entity))

/** Banks read the sum of their customer's debits in the last half hour. */
const banksReadWholeSums: Check = (index, report) => {
  for (const { bank, list } of changingIn(index).has('debit') ? [] : bankListsIn(index)) {
    // Only the first page has them.
    if (list.total_count === undefined) continue
    const own = inListOf(index, bank, list)
    const sum = inGhs(own.reduce((total, { item }) => total + item.amount, 0))
    const isWhole = list.total_count === own.length && list.total_amount === Number(sum)
    if (!isWhole)
      report(`${bank} ${list.phone_number}`, `has ${list.total_count} debits, not ${own.length}`)
  }
}

/** The status by which operators list an object. */
const statusOf = (item: Item, at: number): unknown => {
  const { entity, status, resolvedAt, decision, doneAt, expiresAt } = item
  if (entity === 'exception') return resolvedAt ? 'resolved' : 'open'
  if (entity !== 'approval') return status
  const isOver = decision !== 'denied' && !doneAt && Date.parse(String(expiresAt)) <= at
  return isOver ? 'expired' : decision
}

const isOfDay = (item: Item, day: unknown): boolean => {
  const at =
    item.entity === 'debit' ? entriesOf(item as RawDebit)[0]?.at : Date.parse(String(item.at))
  return day === undefined || (at !== undefined && dayOf(at) === day)
}

type List = { name: string; owner: unknown; status: unknown; day: unknown; at: number }

const countOf = (index: ObservationIndex, { name, owner, status, day, at }: List): number => {
  // A message of before a restore can name an event that the restore undid.
  if (name === 'list-events')
    return index.observations.items
      .flatMap((page) =>
        page.entity === 'feed-page' && ownerIn(page.pk) === owner ? page.entries : [],
      )
      .filter((key) => index.events.has(String(key))).length
  if (name === 'list-debit-transactions')
    return inListOf(index, owner, bankListsIn(index)[0]?.list ?? {}).length
  const deliveries = index.deliveries.values().map(({ item }) => item)
  const { items } = index.observations
  const listed =
    name === 'manage-delivery' ? deliveries : items.filter(({ entity }) => entity === LISTED[name])
  return [...listed].filter(
    (item) =>
      [undefined, item.provider].includes(owner as never) &&
      [undefined, statusOf(item, at)].includes(status) &&
      isOfDay(item, day),
  ).length
}

/** The pages of a list have each of its objects once. */
const listsAreComplete: Check = (index, report) => {
  const { observations, setup } = index
  const from = setup.endedAt - READ_MS
  const pages = observations.calls.flatMap(({ name, caller, sent, reply, at }) => {
    const { verb = 'list', options } = membersOf(sent)
    const { data, result } = membersOf(reply?.status === 200 ? reply.body : {})
    const rows: unknown = membersOf(data).transactions ?? data ?? result
    const owner = caller?.id ?? membersOf(options).provider
    const isRead = name in LISTED && verb === 'list' && at >= from
    const { status, from: day } = membersOf(options)
    return isRead && Array.isArray(rows) ? [{ name, owner, status, day, at, rows }] : []
  })
  const changing = changingIn(index)
  const lists = Map.groupBy(
    pages,
    ({ name, owner, status, day }) => `${name} ${owner} ${status} ${day}`,
  )
  for (const [list, own] of lists) {
    const [first] = own
    if (!first) continue
    const { name } = first
    const found = own.flatMap(({ rows }) => rows.map((row) => JSON.stringify(row)))
    const expected = countOf(index, first)
    const [all, unlike] = [found.length, new Set(found).size]
    // A feed may repeat an event, whose delivery is then listed twice, and two changes can look alike.
    const isRight =
      (name === 'manage-delivery' || all === expected) &&
      (name === 'manage-change' || name === 'list-events' || unlike === expected)
    if (!isRight && !changing.has(LISTED[name])) report(list, `has ${unlike} of ${expected}`)
    const isLast = own.length > 1 && !name.startsWith('manage-') && own.at(-1)?.rows.length === 0
    if (isLast) report(list, 'continues after its last page')
  }
}

export const checks: Checks = {
  32: [repliesNameOwnObjects, debitsAreReadByTheirOwn, debitsAreChangedByTheirOwn],
  49: [listsAreComplete, banksReadWholeSums],
}
