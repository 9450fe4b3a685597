import { agesOf, type RecentChanges } from '../domain/settlement/ages.ts'
import { addBalances, type Balances, post } from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { listFundings } from '../store/settlement/funding.ts'
import { carriedInto, storedBefore } from './day.ts'
import { fundingEntries } from './entries.ts'

/** @param before returns the balances at the start of a day, without remittances */
export const changesUntil = async (date: Day, before = carriedInto): Promise<RecentChanges> => {
  const [end, day, yesterday, twoBefore] = await Promise.all([
    before(dayAfter(date)),
    before(date),
    before(dayAfter(date, -1)),
    before(dayAfter(date, -2)),
  ])
  return [less(end, day), less(day, yesterday), less(yesterday, twoBefore)]
}

const less = (balances: Balances, earlier: Balances): Balances => {
  const change: Balances = new Map(balances)
  addBalances(change, new Map([...earlier].map(([account, balance]) => [account, -balance])))
  return change
}

const PESEWAS = 100n

/**
 * Returns what providers owe since an earlier day, and banks for more than two days, in GHS. Only stored
 * balances count, so that a night is measured in a few reads.
 */
export const debtFigures = async (date: Day) => {
  const { day, balances } = await storedBefore(dayAfter(date))
  if (day !== date) return {}
  const changes = await changesUntil(date, async (start) => (await storedBefore(start)).balances)
  const end = startOf(dayAfter(date))
  for (const entry of (await listFundings()).flatMap(fundingEntries)) {
    if (entry.at < end) post(balances, entry)
  }
  let [providers, banks] = [0n, 0n]
  for (const [account, balance] of balances) {
    const [, before, twoBefore, older] = agesOf(account, BigInt(balance), changes)
    if (account.startsWith('provider_payable:')) providers += before + twoBefore + older
    if (account.startsWith('bank_receivable:')) banks += older
  }
  return { ProvidersOwing: Number(providers / PESEWAS), BanksOwing: Number(banks / PESEWAS) }
}
