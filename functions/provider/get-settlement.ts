import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findProviderBatch } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'

export const getSettlement = (runtime: Runtime) =>
  endpoint('get-settlement', runtime, async ({ path, caller }) => {
    const batch = await findProviderBatch(caller.provider.id, path.id)
    return batch ? { data: batchView(batch) } : notFound('get-settlement')
  })

export const handler = getSettlement(real)
