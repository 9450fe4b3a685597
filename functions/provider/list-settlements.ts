import { endpoint } from '../../shared/api/endpoint.ts'
import { following, listHash, positionIn } from '../../shared/api/pagination.ts'
import { pageRequest } from '../../shared/domain/page.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { positionOf } from '../../shared/store/settlement/batch-item.ts'
import { listBatches } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'

/** The settlement batches of a provider, newest first. */
export const listSettlements = (runtime: Runtime) =>
  endpoint('list-settlements', runtime, async ({ caller, query }) => {
    const { id } = caller.provider
    const list = listHash('list-settlements', id)
    const before = positionIn(list, query.cursor)
    if (before instanceof Refusal) return before
    const { perPage } = pageRequest(query)
    // One more shows whether a page follows.
    const found = await listBatches(id, { limit: perPage + 1, before })
    const shown = found.slice(0, perPage)
    const last = shown.at(-1)
    return {
      data: shown.map((batch) => batchView(batch)),
      page: {
        per_page: perPage,
        ...following(list, last && found.length > perPage ? positionOf(last) : null),
      },
    }
  })

export const handler = listSettlements(real)
