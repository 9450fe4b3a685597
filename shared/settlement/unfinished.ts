import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, startOf } from '../domain/time.ts'
import { listProviders } from '../store/providers/providers.ts'
import { listBatchesOfDay } from '../store/settlement/batches.ts'
import { hasUnsettled } from '../store/work-index.ts'

/** Lists the providers with unsettled debits or unreported batches after the runs of a day. */
export const listUnfinished = async (date: Day): Promise<ProviderId[]> => {
  const unfinished: ProviderId[] = []
  for (const provider of await listProviders()) {
    if ((await hasUnsettled(provider, startOf(date))) || (await hasUnreported(provider, date))) {
      unfinished.push(provider)
    }
  }
  return unfinished
}

const hasUnreported = async (provider: ProviderId, date: Day): Promise<boolean> =>
  (await listBatchesOfDay(provider, date)).some(({ reportedAt }) => reportedAt === null)
