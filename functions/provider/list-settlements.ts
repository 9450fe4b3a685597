import { endpoint } from '../../shared/api/endpoint.ts'
import { following, listHash, positionIn } from '../../shared/api/pagination.ts'
import { pageRequest } from '../../shared/domain/page.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { real } from '../../shared/runtime.ts'
import { positionOf } from '../../shared/store/settlement/batch-item.ts'
import { listBatches } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'

/** Lists the settlement batches of a provider, newest first (docs/api.md#settlement-reads). */
export const listSettlements = endpoint('list-settlements', async ({ caller, query }) => {
  const { id } = caller.provider
  const list = listHash('list-settlements', id)
  const position = positionIn(list, query.cursor)
  if (position instanceof Refusal) return position
  const { perPage } = pageRequest(query)
  // The extra batch shows whether a page follows.
  const batches = await listBatches(id, { limit: perPage + 1, before: position })
  const shown = batches.slice(0, perPage)
  const last = shown.at(-1)
  return {
    data: shown.map(batchView),
    page: {
      per_page: perPage,
      ...following(list, last && batches.length > perPage ? positionOf(last) : null),
    },
  }
})

export const handler = listSettlements(real)
