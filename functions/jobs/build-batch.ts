import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'

/** Of the function's own time, what a run may use before it leaves the rest to another. */
const RUN_MS = 600_000

/**
 * Builds the batch of a partner for a day (specification, What the service does, 6). One that
 * takes longer than a function may run says so in its header, and the table's stream has it
 * taken up again.
 */
export const buildBatches = (runtime: Runtime) =>
  consumer('settlements', async (wanted) => {
    const end = runtime.now().getTime() + RUN_MS
    await buildBatch(wanted, runtime, () => runtime.now().getTime() >= end)
  })

export const handler = buildBatches(real)
