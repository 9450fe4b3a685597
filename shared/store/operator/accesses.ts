import { derivedUuid } from '../../domain/ids.ts'
import type { Access } from '../../domain/operator/access.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import { mapConcurrent } from '../concurrent.ts'
import { type KeySpan, keysWithin } from '../key-span.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** The record of operators' reads, by the keyed hash of the customer. */

/** The time to live of a read. */
export const ACCESS_DAYS = 90
const ACCESS_SECONDS = ACCESS_DAYS * DAY_SECONDS
const WRITES_AT_ONCE = 32

/**
 * Records the first read of each customer by an operator and a verb in an hour: an open page of the console
 * repeats its reads every few seconds.
 */
export const putAccesses = async (customers: readonly string[], access: Access): Promise<void> => {
  const { at, by, noun, verb } = access
  const expiresAt = db.expiresAt(at, ACCESS_SECONDS)
  const time = at.toISOString()
  const hour = `${time.slice(0, 13)}:00:00.000Z`
  await mapConcurrent(customers, WRITES_AT_ONCE, (customer) => {
    const id = derivedUuid([customer, by, noun, verb].join('#'))
    const list = { byCustomer: keys.accessesOf(customer), byTime: `${time}#${id}` }
    const item = { ...keys.access(`${hour}#${id}`), entity: 'access', ...toStored(access) }
    return db.putIf({ ...item, ...list, expiresAt }, db.isNew)
  })
}

const fromItem = ({ byCustomer, byTime, ...item }: db.Item): Access =>
  fromStored<Access>(db.withoutKeys(item), { at: true })

const PAGE_SIZE = 100

/** A read with its key, which begins with its time. */
type ListedAccess = { key: string; access: Access }

/** Items of an earlier version end with the customer, for which a cursor has no room. */
const keyIn = ({ byTime }: db.Item): string => String(byTime).split('#', 2).join('#')

/** Lists the reads of a customer's data, newest first. */
export async function* accessPages(
  customer: string,
  span: KeySpan,
): AsyncGenerator<ListedAccess[]> {
  const list = db.customerQuery(keys.accessesOf(customer), ...keysWithin('byTime', span))
  const pages = db.queryPages({ ...list, ScanIndexForward: false, Limit: PAGE_SIZE })
  for await (const page of pages) {
    const items = await db.readMany(page.map(db.keyOf))
    yield items.map((item) => ({ key: keyIn(item), access: fromItem(item) }))
  }
}

/** Lists the reads of a span of time as they are stored, strongly consistent. */
export async function* accessItemsWithin(span: db.Span) {
  for await (const page of db.queryPages(db.timesQuery(keys.access('').pk, span))) {
    for (const item of page) {
      const { expiresAt, ...access } = db.withoutKeys<db.Item>(item)
      yield { ...access, id: String(item.sk), at: String(item.at) }
    }
  }
}
