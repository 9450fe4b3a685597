import { type Account, type Balances, balanceOf } from './ledger-entry.ts'

/** Pesewas that arose on a day, the day before, two days before, and earlier. */
export type Ages = readonly [bigint, bigint, bigint, bigint]

/** How balances changed on a day, the day before and two days before, without remittances. */
export type RecentChanges = readonly [Balances, Balances, Balances]

/**
 * Distributes what is owed over the days on which it arose. A remittance covers the oldest debt, so
 * the newest is left; the other entries of a day are netted.
 * @param balance pesewas; below zero: nothing is owed
 */
export const agesOf = (account: Account, balance: bigint, changes: RecentChanges): Ages => {
  let rest = balance > 0n ? balance : 0n
  const shareOf = (change: Balances): bigint => {
    const added = BigInt(Math.max(balanceOf(change, account), 0))
    const share = added < rest ? added : rest
    rest -= share
    return share
  }
  const [day, before, twoBefore] = changes
  return [shareOf(day), shareOf(before), shareOf(twoBefore), rest]
}
