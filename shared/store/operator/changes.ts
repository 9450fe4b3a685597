import { defined } from '../../domain/complete.ts'
import type { ApprovalId } from '../../domain/operator/approval.ts'
import { type Change, changedFields, type Fields } from '../../domain/operator/change.ts'
import { type KeySpan, keysWithin } from '../key-span.ts'
import { keys } from '../keys.ts'
import { fromStored } from '../stored.ts'
import * as db from '../table.ts'
import { endWrites } from './approvals.ts'

/**
 * The record of operators' changes (docs/api.md#changes). The items never expire. Roles deny updates
 * and removals; a put must not replace a record, which IAM cannot deny.
 */

/** A change without its fields. Each change of a call has its own id. */
export type Recording = Omit<Change, 'changed'> & {
  id: string
  /** The keyed hash of the phone number of a customer whom the change concerns. */
  customer?: string
  /** The granted request that makes the change. */
  approval?: ApprovalId
}

const itemOf = ({ id, at, customer, approval, ...change }: Recording & Pick<Change, 'changed'>) => {
  const time = `${at.toISOString()}#${id}`
  const owner = keys.changesOf(change)
  return {
    ...keys.change(time),
    entity: 'change',
    ...change,
    at: at.toISOString(),
    ...(owner && { byStatus: owner }),
    ...(customer && { byCustomer: keys.changesOfCustomer(customer) }),
    ...((owner || customer) && { byTime: time }),
  }
}

/**
 * Returns the writes that record a change and end its granted request, for the transaction of the change;
 * none if no field differs.
 */
export const changeWrites = (
  recording: Recording,
  previous: Fields | undefined,
  next: Fields | undefined,
): db.Write[] => {
  const changed = changedFields(previous, next)
  if (Object.keys(changed).length === 0) return []
  const { approval: id, customer, at } = recording
  const record = db.putWrite(itemOf({ ...recording, changed }), db.isNew)
  return [record, ...(id ? endWrites({ id, ...defined({ customer }) }, { doneAt: at }) : [])]
}

export const changeRecorder =
  <T>(recording: Recording, fieldsOf: (settings: T) => Fields) =>
  (previous: T | undefined, next?: T): db.Write[] =>
    changeWrites(recording, previous && fieldsOf(previous), next && fieldsOf(next))

/** Records an operator's work before it starts. The work of a granted request can be repeated. */
export const putChange = async (recording: Recording, options: Fields): Promise<void> => {
  const changed = changedFields(undefined, options)
  // Its id is random, so a record that exists is this one, of a write whose reply was lost.
  await db.putIf(itemOf({ ...recording, changed }), db.isNew)
}

const fromItem = ({ byCustomer, ...item }: db.Item): Change =>
  fromStored<Change>(db.withoutKeys(item), { at: true })

const itemPages = (span: db.Span) => db.queryPages(db.timesQuery(keys.changes.pk, span))

/** Lists the changes of a span of time, oldest first, strongly consistent. */
export async function* changesWithin(span: db.Span): AsyncGenerator<Change> {
  for await (const page of itemPages(span)) yield* page.map(fromItem)
}

/** Lists the changes as they are stored, also the members that this version does not know. */
export async function* changeItemsWithin(span: db.Span) {
  for await (const page of itemPages(span)) {
    for (const item of page) {
      yield { ...db.withoutKeys<db.Item>(item), id: String(item.sk), at: String(item.at) }
    }
  }
}

type ChangeOwner = Pick<Recording, 'provider' | 'bank' | 'customer'>

const listQuery = ({ customer, ...owner }: ChangeOwner, span: KeySpan) => {
  if (customer) {
    return db.customerQuery(keys.changesOfCustomer(customer), ...keysWithin('byTime', span))
  }
  const list = keys.changesOf(owner)
  return list && db.spanQuery(list, span)
}

const PAGE_SIZE = 100

/** A change with its key, which begins with its time. */
type ListedChange = { key: string; change: Change }

/** Lists changes, newest first: all, or those of one provider, bank or customer. */
export async function* changePages(
  owner: ChangeOwner,
  span: KeySpan,
): AsyncGenerator<ListedChange[]> {
  const list = listQuery(owner, span)
  const query = list ?? db.timesQuery(keys.changes.pk, span)
  const pages = db.queryPages({ ...query, ScanIndexForward: false, Limit: PAGE_SIZE })
  for await (const page of pages) {
    const items = list ? await db.readMany(page.map(db.keyOf)) : page
    yield items.map((item) => ({ key: String(item.sk), change: fromItem(item) }))
  }
}
