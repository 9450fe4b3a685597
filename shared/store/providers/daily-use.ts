import { COMPARED_DAYS, type DailyUse } from '../../domain/providers/daily-use.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS, type Day, dayOf } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'

// The writes that a charge and a failure make to the day total also count charges and invalid accounts.
// Only a lookup that finds nothing writes for its count alone, to an item of its own: in the day total
// it would conflict with the transactions of charges.

/** Counts a lookup that found nothing. */
export const countUnknownNumber = async (provider: ProviderId, at: Date): Promise<void> => {
  await db.updateIf(keys.unknownNumbers(provider, dayOf(at)), {
    UpdateExpression: 'SET expiresAt = :expires ADD unknownNumbers :one',
    ExpressionAttributeValues: {
      ':one': 1,
      ':expires': db.expiresAt(at, (COMPARED_DAYS + 2) * DAY_SECONDS),
    },
  })
}

/** Returns the counts of a provider since a day, by day. About two read units for four weeks. */
export const listDailyUse = async (
  provider: ProviderId,
  from: Day,
): Promise<ReadonlyMap<Day, DailyUse>> => {
  const collections = [keys.dayTotal(provider, from), keys.unknownNumbers(provider, from)]
  const found = await Promise.all(
    collections.map(({ pk, sk }) =>
      db.queryAll({
        ...db.itemsQuery(pk, 'sk BETWEEN :first AND :last', { ':first': sk, ':last': 'DAY#9' }),
        ConsistentRead: false,
      }),
    ),
  )
  const days = Map.groupBy(found.flat(), ({ sk }) => String(sk).slice('DAY#'.length) as Day)
  return new Map([...days].map(([day, items]) => [day, Object.assign({}, ...items) as DailyUse]))
}
