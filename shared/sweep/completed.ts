import type { ProviderId } from '../domain/providers/provider.ts'
import { HOUR_MS } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { listProviders } from '../store/providers/providers.ts'
import {
  findSweepProgress,
  putSweepProgress,
  SWEEP_GRACE_SECONDS,
  sweptBefore,
  unsettledPages,
} from '../store/work-index.ts'
import { repair } from './repair.ts'

/** The longest time that one run covers. */
const SPAN_MAX_MS = 600_000
/** The first run starts so long ago. */
const FIRST_MS = HOUR_MS
const PAGE_SIZE = 25

/**
 * Repairs completed debits once, when the grace period for their events has elapsed. Lists them by
 * completion time from the settlement index, one span after another, provider by provider.
 */
export const sweepCompleted = async (runtime: Pick<Runtime, 'now'>, timeIsUp: () => boolean) => {
  const now = runtime.now().getTime()
  const graceEnd = now - SWEEP_GRACE_SECONDS * 1000
  const progress = (await findSweepProgress()) ?? { until: new Date(graceEnd - FIRST_MS) }
  const start = progress.until.getTime()
  // An interrupted run resumes with its own span, so that all providers share one span.
  const end = progress.end ?? new Date(Math.min(graceEnd, start + SPAN_MAX_MS))
  if (end <= progress.until) return
  const span = { from: sweptBefore(progress), before: new Date(end.getTime() + 1) }
  const providers = (await listProviders()).filter((id) => !progress.next || id >= progress.next)
  for (const provider of providers) {
    if (await sweepProvider(provider, span, { runtime, timeIsUp })) continue
    // A provider that a whole run could not finish gets half the span.
    const isStuck = provider === progress.next
    const nextEnd = isStuck ? new Date((start + end.getTime()) / 2) : end
    return putSweepProgress({ until: progress.until, next: provider, end: nextEnd })
  }
  await putSweepProgress({ until: end })
}

/** Returns false if the time was up before the last page. */
const sweepProvider = async (
  provider: ProviderId,
  span: { from: Date; before: Date },
  { runtime, timeIsUp }: { runtime: Pick<Runtime, 'now'>; timeIsUp: () => boolean },
): Promise<boolean> => {
  const pages = unsettledPages(provider, { ...span, pageSize: PAGE_SIZE })
  for await (const references of pages) {
    if (timeIsUp()) return false
    const debits = await findDebits(references, logUnreadable('sweep'))
    await repair([...debits.values()], runtime.now())
  }
  return !timeIsUp()
}
