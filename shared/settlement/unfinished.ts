import type { PartnerId } from '../domain/providers/provider.ts'
import { type Day, startOf } from '../domain/settlement/batch.ts'
import { listPartners } from '../store/providers/providers.ts'
import { listBatchesOfDay } from '../store/settlement/batches.ts'
import { unsettledPages } from '../store/work-index.ts'

/** Partners for whom the runs of a day have left something: debits without a line, or a batch. */
export const listUnfinished = async (date: Day): Promise<PartnerId[]> => {
  const unfinished: PartnerId[] = []
  for (const partner of await listPartners()) {
    if ((await hasWaiting(partner, date)) || (await hasUnreported(partner, date))) {
      unfinished.push(partner)
    }
  }
  return unfinished
}

/** Nothing was completed before. */
const BEGINNING = new Date(0)

const hasWaiting = async (partner: PartnerId, date: Day): Promise<boolean> => {
  const span = { from: BEGINNING, before: startOf(date), pageSize: 1 }
  for await (const references of unsettledPages(partner, span)) {
    if (references.length > 0) return true
  }
  return false
}

const hasUnreported = async (partner: PartnerId, date: Day): Promise<boolean> =>
  (await listBatchesOfDay(partner, date)).some(({ reportedAt }) => reportedAt === null)
