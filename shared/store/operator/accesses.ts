import type { Access } from '../../domain/operator/access.ts'
import { DAY_SECONDS, newestFirst } from '../../domain/time.ts'
import { mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** The record of operators' reads, by the keyed hash of the customer. */

/** The time to live of a read. */
export const ACCESS_DAYS = 90
const ACCESS_SECONDS = ACCESS_DAYS * DAY_SECONDS
const WRITES_AT_ONCE = 32

/** @param id of the call */
export const putAccesses = async (
  customers: readonly string[],
  access: Access,
  id: string,
): Promise<void> => {
  const expiresAt = db.expiresAt(access.at, ACCESS_SECONDS)
  await mapConcurrent(customers, WRITES_AT_ONCE, (customer) => {
    const time = `${access.at.toISOString()}#${id}#${customer}`
    const list = { byCustomer: keys.accessesOf(customer), byTime: time }
    return db.put(keys.access(time), 'access', { ...toStored(access), ...list, expiresAt })
  })
}

const fromItem = ({ byCustomer, byTime, ...item }: db.Item): Access =>
  fromStored<Access>(db.withoutKeys(item), { at: true })

/** Lists the newest reads of a customer's data, newest first. */
export const listAccesses = async (customer: string, limit: number): Promise<Access[]> => {
  const list = db.customerQuery(keys.accessesOf(customer))
  const newest = await db.queryAll({ ...list, ScanIndexForward: false, Limit: limit })
  return (await db.readMany(newest.map(db.keyOf))).map(fromItem).sort(newestFirst)
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
