import type { Day } from '../../domain/time.ts'
import { groupsOf, mapConcurrent } from '../concurrent.ts'
import { type Key, keys } from '../keys.ts'
import { itemsQuery, put, queryAll, readCollection, withoutKeys } from '../table.ts'

/** Caches the balances of the ledger at the end of past days. */

/** In pesewas by account; debit balances are positive, credit balances negative. */
export type Closing = { day: Day; balances: Record<string, number> }

/** Accounts in one item, of 70 bytes at most. */
const ACCOUNTS_MAX = 1_000
const PAGES_AT_ONCE = 10

/** @param run names the pages: the run of the reconciliation that has checked the balances */
export const putClosing = async ({ day, balances }: Closing, run: string = day): Promise<void> => {
  const pages = groupsOf(Object.entries(balances), ACCOUNTS_MAX)
  if (pages.length <= 1) return put(keys.ledger(day), 'ledger', { day, balances })
  await mapConcurrent([...pages.entries()], PAGES_AT_ONCE, ([n, page]) =>
    put(keys.ledgerPage(run, n), 'ledger-page', { balances: Object.fromEntries(page) }),
  )
  // An earlier version does not find it, and carries the day from an earlier one.
  await put(keys.pagedLedger(day), 'ledger', { day, run })
}

/** Reads the latest stored balances of a day or an earlier one. */
export const findClosing = async (until: Day): Promise<Closing | undefined> => {
  const [whole, paged] = await Promise.all([
    latest(keys.ledger('0'), keys.ledger(until)),
    latest(keys.pagedLedger('0'), keys.pagedLedger(until)),
  ])
  if (!paged || (whole && String(whole.day) > String(paged.day))) {
    return whole && withoutKeys<Closing>(whole)
  }
  const { day, run } = withoutKeys<{ day: Day; run: string }>(paged)
  const pages = await readCollection(keys.ledgerPages(run))
  return { day, balances: Object.assign({}, ...pages.map((page) => page.balances)) }
}

const latest = async (first: Key, last: Key) => {
  const [item] = await queryAll({
    ...itemsQuery(first.pk, 'sk BETWEEN :first AND :last', {
      ':first': first.sk,
      ':last': last.sk,
    }),
    ScanIndexForward: false,
    Limit: 1,
  })
  return item
}
