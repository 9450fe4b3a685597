import { endpoint } from '../../shared/api/endpoint.ts'
import { cursorFor, pageRequest } from '../../shared/domain/page.ts'
import { batchView } from '../../shared/domain/settlement-view.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { positionOf } from '../../shared/store/batch-item.ts'
import { listBatches } from '../../shared/store/settlements.ts'

/** The settlement batches of a partner, the newest first. */
export const listSettlements = (runtime: Runtime) =>
  endpoint('list-settlements', runtime, async ({ caller, query }) => {
    const { perPage } = pageRequest(query)
    // One more tells whether any follow.
    const limit = perPage + 1
    const found = await listBatches(caller.partner.id, { limit, before: query.cursor })
    const shown = found.slice(0, perPage)
    const last = shown.at(-1)
    return {
      data: shown.map((batch) => batchView(batch)),
      page: {
        per_page: perPage,
        next_cursor: last && found.length > perPage ? cursorFor(positionOf(last)) : null,
      },
    }
  })

export const handler = listSettlements(real)
