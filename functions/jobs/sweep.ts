import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { sweepCompleted } from '../../shared/sweep/completed.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'

/** The part of the function's timeout that a run uses. */
const RUN_MS = 40_000

/** Runs each minute and repeats work whose message, timer or stream record was lost. */
export const sweep = (runtime: Runtime) =>
  consumer('sweeps', async () => {
    const end = runtime.now().getTime() + RUN_MS
    const timeIsUp = () => runtime.now().getTime() >= end
    await sweepOverdue(runtime, timeIsUp)
    await sweepCompleted(runtime, timeIsUp)
    // The alarm fires when this metric is missing.
    measure({ SweepRuns: 1 })
  })

export const handler = sweep(real)
