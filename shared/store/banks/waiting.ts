import { type Debit, type Facts, stateAt } from '../../domain/debits/debit.ts'
import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import { type Key, keys } from '../keys.ts'
import * as db from '../table.ts'

/** Debits that wait while their bank is down: an item each, until the bank replies again. */

/** A waiting debit; its message needs no more of it. */
type WaitingDebit = Pick<Facts, 'reference' | 'provider' | 'bank'> & { key: Key }

/** Waits once, however often it is called. */
export const wait = (debit: Debit): Promise<void> => {
  const { reference, provider, bank } = debit.facts
  const { createdAt } = stateAt(debit)
  const key = keys.waitingDebit(bank.identifier, createdAt, reference)
  const expiresAt = db.expiresAt(createdAt, DAY_SECONDS)
  return db.put(key, 'waiting', { reference, provider, bank, expiresAt })
}

/** Lists the waiting debits of a bank that were charged after a time, oldest first. */
export async function* waitingPages(
  bank: string,
  { after, pageSize }: { after: Date; pageSize: number },
): AsyncGenerator<WaitingDebit[]> {
  const condition = { ':after': after.toISOString() }
  const query = db.itemsQuery(keys.waitingDebits(bank), 'sk > :after', condition)
  for await (const page of db.queryPages({ ...query, Limit: pageSize })) {
    yield page.map((item) => ({
      key: db.keyOf(item),
      reference: item.reference as Reference,
      provider: item.provider as ProviderId,
      bank: item.bank as Facts['bank'],
    }))
  }
}

/** Ends a wait, which another worker may have ended. */
export const endWait = ({ key }: WaitingDebit): Promise<boolean> => db.remove(key)
