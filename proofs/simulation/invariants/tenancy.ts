import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall } from '../engine/observations.ts'
import { isAccepted, type Members, membersOf } from './calls.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import type { Check, Checks } from './rules.ts'
import { debitNumber, inGhs, MINUTE_MS, pesewasOf } from './time-and-money.ts'

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

/** The kinds of items of which a list has rows. */
const LISTED: Record<string, readonly string[]> = {
  'list-debit-requests': ['debit'],
  'list-events': ['feed-page'],
  'list-settlements': ['batch'],
  'manage-debit': ['debit'],
  'manage-delivery': ['delivery', 'receipt', 'feed-page'],
  'manage-exception': ['exception'],
  'manage-change': ['change'],
  'manage-approval': ['approval'],
}

/** A feed may repeat an event, and two changes can look alike. */
const REPEATING = new Set(['list-events', 'manage-delivery'])
const ALIKE = new Set(['manage-change'])

const rowsOf = (index: ObservationIndex, name: string, owner: unknown): number => {
  const isOwned = (item: Item): boolean => owner === undefined || item.provider === owner
  if (name === 'list-events') return index.feeds.get(String(owner))?.size ?? 0
  const items =
    name === 'manage-delivery'
      ? index.deliveries.values().map(({ item }) => item)
      : index.observations.items.filter(({ entity }) => entity === LISTED[name]?.[0])
  return [...items].filter(isOwned).length
}

/** The pages of a list have each of its objects once. */
const listsAreComplete: Check = (index, report) => {
  const { observations, setup } = index
  const from = setup.endedAt - READ_MS
  const pages = observations.calls.flatMap(({ name, caller, sent, reply, at }) => {
    const { verb = 'list', options } = membersOf(sent)
    const { data, result } = membersOf(reply?.status === 200 ? reply.body : {})
    const rows: unknown = data ?? result
    const owner = caller?.id ?? membersOf(options).provider
    const isRead = name in LISTED && verb === 'list' && at >= from
    return isRead && Array.isArray(rows) ? [{ name, owner, rows }] : []
  })
  const changing = new Set(
    observations.changes.flatMap(({ after, at }) => (at >= from ? (after?.entity ?? []) : [])),
  )
  for (const own of Map.groupBy(pages, ({ name, owner }) => `${name} ${owner}`).values()) {
    const [{ name, owner } = { name: '', owner: '' }] = own
    const found = own.flatMap(({ rows }) => rows.map((row) => JSON.stringify(row)))
    const expected = rowsOf(index, name, owner)
    const isWrong =
      (!REPEATING.has(name) && found.length !== expected) ||
      (!ALIKE.has(name) && new Set(found).size !== expected)
    // A debit can be reversed meanwhile.
    const isQuiet = !LISTED[name]?.some((kind) => changing.has(kind))
    if (isWrong && isQuiet) report(name, `has ${found.length} of ${expected} for ${owner}`)
  }
}

const SUMS = ['gross', 'fee', 'net'] as const

/** A monthly statement has the sums of the batches of its days, also by their fee schedules. */
const statementsAddUp: Check = ({ observations, batches }, report) => {
  for (const { name, caller, path, reply } of observations.calls) {
    if (name !== 'get-monthly-statement' || reply?.status !== 200) continue
    const own = [...batches.values()].flatMap(({ item }) =>
      item.provider === caller?.id && item.date.startsWith(String(path.month)) ? [item] : [],
    )
    const sumOf = <T>(rows: readonly T[], amountOf: (row: T) => unknown): string =>
      inGhs(rows.reduce((sum, row) => sum + Number(amountOf(row) ?? 0), 0))
    const data = membersOf(membersOf(reply.body).data)
    const parts = data.fees as Members[]
    const shown = [
      ...[data.paid, ...SUMS.map((one) => data[one])],
      ...['gross', 'fee'].map((one) => sumOf(parts, (part) => pesewasOf(part[one]))),
    ]
    const [gross, fee, net] = SUMS.map((one) => sumOf(own, ({ totals }) => totals?.[one]))
    const paid = sumOf(own, (item) => item.completedAt && item.paid)
    const expected = [paid, gross, fee, net, gross, fee]
    if (shown.join() !== expected.join()) report(`${caller?.id}`, `has ${shown}, not ${expected}`)
  }
}

export const checks: Checks = {
  32: [repliesNameOwnObjects, debitsAreReadByTheirOwn, debitsAreChangedByTheirOwn],
  49: [listsAreComplete, statementsAddUp],
}
