import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { sweepAll } from '../../shared/sweep/run.ts'

/** Runs each minute and repeats work whose message, timer or stream record was lost. */
export const sweep = (runtime: Runtime) =>
  consumer('sweeps', async () => {
    const SweepLagSeconds = await sweepAll(runtime)
    // An alarm fires when SweepRuns is missing, another one when the lag is long.
    measure({ SweepRuns: 1, SweepLagSeconds })
  })

export const handler = sweep(real)
