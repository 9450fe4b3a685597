import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, startOf } from '../domain/time.ts'
import { listProviders } from '../store/providers/providers.ts'
import { listBatchesOfDay } from '../store/settlement/batches.ts'
import { unsettledPages } from '../store/work-index.ts'

/** Providers for whom the runs of a day have left something: debits without a line, or a batch. */
export const listUnfinished = async (date: Day): Promise<ProviderId[]> => {
  const unfinished: ProviderId[] = []
  for (const provider of await listProviders()) {
    if ((await hasWaiting(provider, date)) || (await hasUnreported(provider, date))) {
      unfinished.push(provider)
    }
  }
  return unfinished
}

/** Nothing was completed before. */
const BEGINNING = new Date(0)

const hasWaiting = async (provider: ProviderId, date: Day): Promise<boolean> => {
  const span = { from: BEGINNING, before: startOf(date), pageSize: 1 }
  for await (const references of unsettledPages(provider, span)) {
    if (references.length > 0) return true
  }
  return false
}

const hasUnreported = async (provider: ProviderId, date: Day): Promise<boolean> =>
  (await listBatchesOfDay(provider, date)).some(({ reportedAt }) => reportedAt === null)
