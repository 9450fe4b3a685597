import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type BankHealth, HEALTHY } from '../../domain/banks/health.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/**
 * The health of the banks: an item per bank, written when it changes. One query reads all, in a
 * partition of their own, because workers that may write them may not write banks.
 */

type Healths = ReadonlyMap<string, BankHealth>
type StoredHealth = BankHealth & { version: number }

const TIMES = { since: true, failingSince: true, recoveredAt: true } as const

const fromItem = (item: db.Item): StoredHealth =>
  fromStored<StoredHealth>(db.withoutKeys(item), TIMES)

/** The share of the usual time for which workers know that a bank is down: the end is urgent. */
const DOWN_FACTOR = 1 / 6

/** The seconds after its end for which a worker may take a bank for down. */
export const downCacheSeconds = (): number => DOWN_FACTOR * environment.cacheSeconds

const isAnyDown = (healths: Healths): boolean =>
  [...healths.values()].some(({ state }) => state === 'down')

const recent = ttlCache<Healths>(1, (healths) => (isAnyDown(healths) ? DOWN_FACTOR : 1))

/** Reads the health of each bank that had a failed request. It may miss writes of the last second. */
export const readBankHealths = async (now: Date): Promise<Healths> => {
  const query = { ...db.collectionQuery(keys.bankHealths), ConsistentRead: false }
  const items = await db.queryAll(query)
  const healths = new Map(
    items.map((item) => {
      const { version: _, ...health } = fromItem(item)
      return [String(item.sk), health]
    }),
  )
  recent.set('all', healths, now)
  return healths
}

/** Returns the health of all banks, cached by a warm function. */
const bankHealths = (now: Date): Promise<Healths> => recent('all', now, () => readBankHealths(now))

/** Returns the health of a bank; one without a failed request has none stored. */
export const healthIn = (healths: Healths, bank: string): BankHealth => healths.get(bank) ?? HEALTHY

export const bankHealth = async (bank: string, now: Date): Promise<BankHealth> =>
  healthIn(await bankHealths(now), bank)

/**
 * Changes the health of a bank. A change that leaves the cached health as it is costs no call.
 * @param change returns the unchanged object to write nothing
 * @returns the states before and after
 */
export const changeBankHealth = async (
  bank: BankIdentifier,
  change: (health: BankHealth) => BankHealth,
  now: Date,
): Promise<{ previous: BankHealth; next: BankHealth }> => {
  const healths = await bankHealths(now)
  const known = healthIn(healths, bank)
  const expected = change(known)
  if (expected === known) return { previous: known, next: known }
  // Other requests of this worker then see it before it is written.
  const learn = (health: BankHealth) => recent.set('all', new Map(healths).set(bank, health), now)
  learn(expected)
  const key = keys.bankHealth(bank)
  const changed = await optimistically(`The health of bank ${bank}`, async () => {
    const item = await db.find(key, fromItem)
    const { version, ...previous } = item ?? { ...HEALTHY, version: 0 }
    const next = change(previous)
    if (next === previous) return { previous, next }
    const members = { entity: 'bank-health', ...toStored(next), version: version + 1 }
    const condition = version === 0 ? db.isNew : db.hasVersion(version)
    return (await db.putIf({ ...key, ...members }, condition)) ? { previous, next } : undefined
  })
  learn(changed.next)
  return changed
}
