import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real, timeLimit } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'

/** The rest of the function's time is for sealing and reports. */
const RUN_MS = 600_000

/**
 * Builds the batches of a provider for a day (docs/api.md#batches). If the time is up first, the
 * stored build record makes the relay send the message that continues it.
 */
export const buildBatches = (runtime: Runtime) =>
  consumer('settlements', async (request) => {
    const timeIsUp = timeLimit(runtime, RUN_MS)
    await buildBatch({ ...request, timeIsUp }, runtime)
  })

export const handler = buildBatches(real)
