import type { BatchId } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Batch, BatchStatus } from '../../domain/settlement/batch.ts'
import { END_OF_TIME } from '../../domain/time.ts'
import { isKeyWithin, type KeySpan } from '../key-span.ts'
import { keys } from '../keys.ts'
import { mergeSorted } from '../merge-sorted.ts'
import * as db from '../table.ts'
import { listWatchedBatches } from '../work-index.ts'
import { positionOf } from './batch-item.ts'
import { findBatches, idFrom, listBelowZero, listFailed, listPayable } from './batches.ts'

/** The list of the batches of several providers, for operators. */

const PAGE_SIZE = 20

/** The key of a batch in the list of several providers. */
export const listKeyOf = (batch: Batch): string => `${positionOf(batch)}#${batch.provider}`

const entryKeyOf = ({ byTime, byStatus }: db.Item): string =>
  `${byTime}#${String(byStatus).split('#')[0]}`

type Providers = readonly ProviderId[]

/** The lists in the index work that have the batches in a status; null: the list of all batches has them. */
const workLists: Record<BatchStatus, ((providers: Providers) => Promise<BatchId[]>[]) | null> = {
  pending: (providers) => [
    listWatchedBatches(),
    listPayable(END_OF_TIME),
    ...providers.map((provider) => listBelowZero(provider, END_OF_TIME)),
  ],
  processing: () => [listWatchedBatches()],
  completed: null,
  failed: () => [listFailed(END_OF_TIME)],
}

/**
 * Lists batches of several providers, newest first: all in a status, possibly with others. Reads the batches of a
 * status that has work lists from these. The indexes may lag.
 */
export async function* batchPages(
  providers: Providers,
  span: KeySpan,
  status?: BatchStatus,
): AsyncGenerator<Batch[]> {
  const inStatus = status && workLists[status]?.(providers)
  if (inStatus) {
    const batches = await findBatches([...new Set((await Promise.all(inStatus)).flat())])
    const isListed = (batch: Batch): boolean =>
      isKeyWithin(listKeyOf(batch), span) && providers.includes(batch.provider)
    const newestFirst = (one: Batch, other: Batch) => (listKeyOf(one) < listKeyOf(other) ? 1 : -1)
    yield batches.filter(isListed).sort(newestFirst)
    return
  }
  const lists = providers.map((provider) => {
    const query = db.spanQuery(keys.batches(provider), span)
    return db.queryPages({ ...query, ScanIndexForward: false, Limit: PAGE_SIZE })
  })
  const order = { keyOf: entryKeyOf, isDescending: true, ahead: 1 }
  for await (const page of mergeSorted(lists, order)) {
    yield findBatches(page.map(({ pk }) => idFrom(pk)))
  }
}
