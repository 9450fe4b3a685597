import { erasableFrom, openWork } from '../domain/debits/erasure.ts'
import type { Reference } from '../domain/ids.ts'
import { DAY_SECONDS, secondsAfter } from '../domain/time.ts'
import { environment, type Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { eraseTexts, eraseWholeDebit, findWholeDebit } from '../store/debits/erasure.ts'
import { findLaterErasure, replaceLaterErasure } from '../store/debits/later-erasures.ts'
import type { WorkItem } from '../store/work-index.ts'

const DEBITS_AT_ONCE = 16

/** A worker that has read a debit before its erasure ends within this time, and can write texts until then. */
export const WORKERS_SECONDS = 180

const afterWorkers = (at: Date): Date => secondsAfter(at, WORKERS_SECONDS)

/** Returns when to look again; undefined once the debit is gone, or erased with the texts around it. */
const eraseDue = async (reference: Reference, runtime: Runtime): Promise<Date | undefined> => {
  const whole = await findWholeDebit(reference)
  if (!whole) return undefined
  const now = runtime.now()
  const { erasedAt } = whole.debit
  if (erasedAt) {
    const last = afterWorkers(erasedAt)
    if (last > now) return last
    return (await eraseTexts(whole, erasedAt)) ? undefined : afterWorkers(now)
  }
  // An operator reversed it since, or the bank reported again.
  if (openWork(whole.debit, whole)) return secondsAfter(now, DAY_SECONDS)
  const from = erasableFrom(whole.debit, environment.eraseAfterDays)
  if (from > now) return from
  return (await eraseWholeDebit(whole, now, runtime)) ? afterWorkers(now) : now
}

/** Erases the debits of a page that are old enough by now, and checks each once again for texts of workers (docs/compliance.md#personal-data). */
export const sweepErasure = async (item: WorkItem, runtime: Runtime): Promise<void> => {
  const references = await findLaterErasure(item.key)
  const times = await mapConcurrent(references, DEBITS_AT_ONCE, (one) => eraseDue(one, runtime))
  const remaining = references.filter((_, index) => times[index])
  const next = Math.min(...times.flatMap((time) => time?.getTime() ?? []))
  await replaceLaterErasure(item, remaining, new Date(remaining.length > 0 ? next : 0), runtime)
}
