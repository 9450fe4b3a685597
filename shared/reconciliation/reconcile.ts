import type { Day } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import * as store from '../store/settlement/reconciliations.ts'
import { type PartOptions, performPart } from './perform.ts'
import { type Reconciliation, resultOf, startRun } from './runs.ts'

const PARTS_AT_ONCE = 4

type ReconcileOptions = {
  /** The run to continue. */
  id?: string | undefined
} & Partial<PartOptions>

/**
 * Reconciles a day in this process.
 * @returns the result, or the id of the run if the time was up
 */
export const reconcile = async (
  date: Day,
  runtime: Runtime,
  { id = `${date}#${runtime.newId()}`, timeIsUp = () => false, ...options }: ReconcileOptions = {},
): Promise<Reconciliation | { id: string }> => {
  await startRun(id, date, runtime)
  for (;;) {
    const run = await store.findRun(id)
    if (!run) throw new Error(`There is no run ${id}`)
    if (run.openParts === 0) {
      const result = await resultOf(run)
      await store.endRun(run, runtime.now())
      return result
    }
    const open: store.ReconciliationPart[] = []
    for await (const part of store.partsOf(id)) if (!part.findings) open.push(part)
    await mapConcurrent(open, PARTS_AT_ONCE, async (part) => {
      if (!timeIsUp()) await performPart(run, part, runtime, { timeIsUp, ...options })
    })
    if (timeIsUp()) return { id }
  }
}
