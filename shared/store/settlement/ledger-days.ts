import type { Day } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import { itemsQuery, put, queryAll, withoutKeys } from '../table.ts'

/** Caches the balances of the ledger at the end of past days. */

/** In pesewas by account; debit balances are positive, credit balances negative. */
export type Closing = { day: Day; balances: Record<string, number> }

export const putClosing = ({ day, balances }: Closing): Promise<void> =>
  put(keys.ledger(day), 'ledger', { day, balances })

/** Reads the latest stored balances of a day or an earlier one. */
export const findClosing = async (until: Day): Promise<Closing | undefined> => {
  const { pk, sk } = keys.ledger(until)
  const [item] = await queryAll({
    ...itemsQuery(pk, 'sk <= :until', { ':until': sk }),
    ScanIndexForward: false,
    Limit: 1,
  })
  return item && withoutKeys<Closing>(item)
}
