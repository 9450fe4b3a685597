import type { Day } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import { put, queryAll, withoutKeys } from '../table.ts'

/** Balances of the ledger at the end of days that are over: a cache of what the facts add up to. */

/** In pesewas by account; debit balances are above zero, credit balances below. */
export type Closing = { day: Day; balances: Record<string, number> }

export const putClosing = ({ day, balances }: Closing): Promise<void> =>
  put(keys.ledger(day), 'ledger', { day, balances })

/** Returns the latest stored balances of a day or of one before it. */
export const findClosing = async (until: Day): Promise<Closing | undefined> => {
  const { pk, sk } = keys.ledger(until)
  const [item] = await queryAll({
    KeyConditionExpression: 'pk = :ledger AND sk <= :until',
    ExpressionAttributeValues: { ':ledger': pk, ':until': sk },
    ConsistentRead: true,
    ScanIndexForward: false,
    Limit: 1,
  })
  return item && withoutKeys<Closing>(item)
}
