import type { ApiCall } from '../engine/observations.ts'
import type { Check } from './invariant.ts'
import { membersOf } from './reply.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 49: after the faults, a list has every object of its caller. */

const PAGE = 100
/** An index is at most a minute late. */
const SETTLED_MS = 5 * MINUTE_MS

const rowsOf = ({ reply }: ApiCall): number => {
  const { data } = membersOf(reply?.body)
  return Array.isArray(data) ? data.length : 0
}

export const listsAreComplete: Check = ({ observations, debits, batches }, report) => {
  const { calls, setup } = observations
  const owned: Record<string, ReadonlyMap<string, readonly unknown[]>> = {
    'list-debit-requests': Map.groupBy(debits.values(), ({ item }) => item.provider),
    'list-settlements': Map.groupBy(batches.values(), ({ item }) => item.provider),
  }
  for (const call of calls) {
    const lists = owned[call.name]
    if (!lists || call.reply?.status !== 200 || call.at < setup.healedAt + SETTLED_MS) continue
    const expected = Math.min(lists.get(call.caller?.id ?? '')?.length ?? 0, PAGE)
    const found = rowsOf(call)
    if (found !== expected) report(call.name, `has ${found} of ${expected} for ${call.caller?.id}`)
  }
}
