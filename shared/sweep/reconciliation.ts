import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import { log } from '../log.ts'
import { reconciliationMessage } from '../queues/outbox.ts'
import { findPart, findRun, RUN_HOURS_MAX } from '../store/settlement/reconciliations.ts'

/** The time between two sweeps of a run. */
const SWEEP_MS = HOUR_MS / 4

/** The time in which the seal of an ended run is requested. Then the next night seals its day, without the result. */
const SEAL_MS = DAY_MS

/** Returns the lost message of a part, or of the end of a run or its seal, and measures an overdue run. */
export const expectedOfRun = async (
  { run: id, part: partId }: { run: string; part?: string | undefined },
  now: Date,
) => {
  const [run, part] = await Promise.all([findRun(id), partId ? findPart(id, partId) : undefined])
  if (!run) return undefined
  const age = now.getTime() - run.startedAt.getTime()
  if (run.endedAt && (partId || run.sealed || age > SEAL_MS)) return undefined
  if (partId) {
    const at = new Date(now.getTime() - Math.min(age, HOUR_MS))
    return part?.findings === undefined
      ? { outgoing: [reconciliationMessage(id, partId)], at }
      : undefined
  }
  const { openParts } = run
  if (!run.endedAt && age > RUN_HOURS_MAX * HOUR_MS) {
    const details = { run: id, open_parts: openParts }
    log.error('reconciliation unfinished', details, { ReconciliationUnfinished: 1 })
  }
  return {
    outgoing: openParts === 0 ? [reconciliationMessage(id)] : [],
    at: new Date(now.getTime() - SWEEP_MS),
  }
}
