import type { ProviderId } from '../../domain/providers/provider.ts'
import { keys } from '../keys.ts'
import { read } from '../table.ts'

/** What the counter of a day says, in pesewas; undefined: there is none. */
export const findDayTotal = async (
  provider: ProviderId,
  day: string,
): Promise<number | undefined> =>
  (await read<{ amountTotal?: number }>(keys.dayTotal(provider, day)))?.amountTotal
