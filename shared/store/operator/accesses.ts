import type { Access } from '../../domain/operator/access.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import { mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** The record of operators' reads, by the keyed hash of the customer. */

const ACCESS_SECONDS = 90 * DAY_SECONDS
const WRITES_AT_ONCE = 32

/** @param id of the call */
export const putAccesses = async (
  customers: readonly string[],
  access: Access,
  id: string,
): Promise<void> => {
  const time = `${access.at.toISOString()}#${id}`
  const expiresAt = db.expiresAt(access.at, ACCESS_SECONDS)
  await mapConcurrent(customers, WRITES_AT_ONCE, (customer) =>
    db.put(keys.access(customer, time), 'access', { ...toStored(access), expiresAt }),
  )
}

/** Lists the newest accesses, newest first. */
export const listAccesses = async (customer: string, limit: number): Promise<Access[]> => {
  const { pk } = keys.access(customer, '')
  const items = await db.queryAll({
    ...db.collectionQuery({ pk }),
    ScanIndexForward: false,
    Limit: limit,
  })
  return items.map((item) => fromStored<Access>(db.withoutKeys(item), { at: true }))
}
