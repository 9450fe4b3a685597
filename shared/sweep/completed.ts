import type { PartnerId } from '../domain/providers/provider.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listPartners } from '../store/providers/providers.ts'
import { findSweepProgress, putSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { GRACE_SECONDS, unsettledPages } from '../store/work-index.ts'
import { repair } from './repair.ts'

/**
 * Looks once at each debit that was completed, after its events have had the time to be told.
 * Such debits wait for settlement, where they are found by the time of their completion; so a
 * span of time after the other is looked through, partner by partner, and nothing is written.
 */

const SPAN_MAX_MS = 600_000
/** Where the first run begins. */
const FIRST_MS = 3_600_000
const TOGETHER = 25

/** @param isOver whether the time of this run is used up */
export const lookAfterCompleted = async (
  runtime: Pick<Runtime, 'now'>,
  isOver: () => boolean,
): Promise<void> => {
  const now = runtime.now().getTime()
  const ripe = now - GRACE_SECONDS * 1000
  const progress = (await findSweepProgress()) ?? { until: new Date(ripe - FIRST_MS) }
  const start = progress.until.getTime()
  // A run that was cut off is ended with its own span, so that all partners have the same.
  const end = progress.end ?? new Date(Math.min(ripe, start + SPAN_MAX_MS))
  if (end <= progress.until) return
  const span = { from: sweptBefore(progress), before: new Date(end.getTime() + 1) }
  const partners = (await listPartners()).filter((id) => !progress.next || id >= progress.next)
  for (const partner of partners) {
    if (await lookAfterPartner(partner, span, { runtime, isOver })) continue
    // One that a whole run was not enough for gets a shorter span.
    const isStuck = partner === progress.next
    const left = isStuck ? new Date((start + end.getTime()) / 2) : end
    return putSweepProgress({ until: progress.until, next: partner, end: left })
  }
  await putSweepProgress({ until: end })
}

/** @returns false when the time was over before its end */
const lookAfterPartner = async (
  partner: PartnerId,
  span: { from: Date; before: Date },
  { runtime, isOver }: { runtime: Pick<Runtime, 'now'>; isOver: () => boolean },
): Promise<boolean> => {
  const pages = unsettledPages(partner, { ...span, pageSize: TOGETHER })
  for await (const references of pages) {
    if (isOver()) return false
    const debits = await findDebits(references, logUnreadable('sweep'))
    await repair([...debits.values()], runtime.now())
  }
  return !isOver()
}
