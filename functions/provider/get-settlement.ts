import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { findProviderBatch } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'

/** Returns a settlement batch (docs/api.md#settlement-reads). */
export const getSettlement = endpoint('get-settlement', async ({ path, caller }) => {
  const batch = await findProviderBatch(caller.provider.id, path.id)
  return batch ? { data: batchView(batch) } : notFound('get-settlement')
})

export const handler = getSettlement(real)
