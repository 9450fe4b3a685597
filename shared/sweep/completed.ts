import type { ProviderId } from '../domain/providers/provider.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findSweepProgress, putSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { SWEEP_GRACE_SECONDS, unsettledPages } from '../store/work-index.ts'
import { repair } from './repair.ts'

/**
 * Looks once at each debit that was completed, after its events have had the time to be told.
 * Such debits wait for settlement, where they are found by the time of their completion; so a
 * span of time after the other is looked through, provider by provider, and nothing is written.
 */

const SPAN_MAX_MS = 600_000
/** Where the first run begins. */
const FIRST_MS = 3_600_000
const TOGETHER = 25

/** @param isOver whether the time of this run is used up */
export const sweepCompleted = async (
  runtime: Pick<Runtime, 'now'>,
  isOver: () => boolean,
): Promise<void> => {
  const now = runtime.now().getTime()
  const ripe = now - SWEEP_GRACE_SECONDS * 1000
  const progress = (await findSweepProgress()) ?? { until: new Date(ripe - FIRST_MS) }
  const start = progress.until.getTime()
  // A run that was cut off is ended with its own span, so that all providers have the same.
  const end = progress.end ?? new Date(Math.min(ripe, start + SPAN_MAX_MS))
  if (end <= progress.until) return
  const span = { from: sweptBefore(progress), before: new Date(end.getTime() + 1) }
  const providers = (await listProviders()).filter((id) => !progress.next || id >= progress.next)
  for (const provider of providers) {
    if (await lookAfterProvider(provider, span, { runtime, isOver })) continue
    // One that a whole run was not enough for gets a shorter span.
    const isStuck = provider === progress.next
    const left = isStuck ? new Date((start + end.getTime()) / 2) : end
    return putSweepProgress({ until: progress.until, next: provider, end: left })
  }
  await putSweepProgress({ until: end })
}

/** @returns false when the time was over before its end */
const lookAfterProvider = async (
  provider: ProviderId,
  span: { from: Date; before: Date },
  { runtime, isOver }: { runtime: Pick<Runtime, 'now'>; isOver: () => boolean },
): Promise<boolean> => {
  const pages = unsettledPages(provider, { ...span, pageSize: TOGETHER })
  for await (const references of pages) {
    if (isOver()) return false
    const debits = await findDebits(references, logUnreadable('sweep'))
    await repair([...debits.values()], runtime.now())
  }
  return !isOver()
}
