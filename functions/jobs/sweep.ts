import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { sweepCompleted } from '../../shared/sweep/completed.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'

/** Of the function's own time, what a run may use; the next minute brings another. */
const RUN_MS = 40_000

/**
 * Each minute: looks for what was to happen and did not, because a message, a timer or a part of
 * the stream was lost, and has it done. The table alone says what was to happen.
 */
export const sweep = (runtime: Runtime) =>
  consumer('sweeps', async () => {
    const end = runtime.now().getTime() + RUN_MS
    const isOver = () => runtime.now().getTime() >= end
    await sweepOverdue(runtime, isOver)
    await sweepCompleted(runtime, isOver)
    // That there is none of these is the alarm.
    measure({ SweepRuns: 1 })
  })

export const handler = sweep(real)
