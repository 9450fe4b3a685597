import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { buildWithLease } from '../../shared/settlement/lease.ts'

/** Of the function's own time, what a run may use before it leaves the rest to another. */
const RUN_MS = 600_000

/**
 * Builds the batches of a provider for a day (specification, What the service does, 6). Work that
 * takes longer than a function may run is on record, and the table's stream has it continued.
 */
export const buildBatches = (runtime: Runtime) =>
  consumer('settlements', async (wanted) => {
    const end = runtime.now().getTime() + RUN_MS
    await buildWithLease(wanted, runtime, () => runtime.now().getTime() >= end)
  })

export const handler = buildBatches(real)
