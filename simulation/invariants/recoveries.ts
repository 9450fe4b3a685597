import type { Check } from './invariant.ts'
import type { DeliveryHistory, ObservationIndex } from './observation-index.ts'
import { isFinished, isReceived, type ReceivedPost } from './received-posts.ts'

/** Invariant 15: an abandoned event is retried once its receiver responds (docs/api.md#recovery). */

const HOUR_MS = 3_600_000

/** A recovery covers events of 72 hours; one hour is left for its start. */
const COVERED_MS = 71 * HOUR_MS

const AUTO_RETRIES_MAX = 3

/** A recovery at that time can miss the event: the index is late, and clocks differ. */
const SETTLED_MS = 120_000

export const abandonedEventsAreRecovered: Check = (index, report) => {
  const { endedAt } = index.observations.setup
  const received = Map.groupBy(
    index.posts.filter((candidate) => isReceived(candidate) && candidate.post.responseReceived),
    ({ receiver }) => receiver?.id,
  )
  for (const [key, delivery] of index.deliveries) {
    const failedAt = abandonedAt(delivery, index)
    if (failedAt === undefined) continue
    const own = received.get(delivery.item.provider) ?? []
    const isNear = ({ post }: ReceivedPost): boolean =>
      post.at > failedAt - SETTLED_MS && startOf(post, index) <= failedAt + SETTLED_MS
    if (own.some(isNear)) continue
    const later = own.filter(({ post }) => post.at > failedAt)
    const until = Math.min(Date.parse(delivery.item.occurredAt) + COVERED_MS, endedAt - HOUR_MS)
    if (later.some(({ post }) => post.at < until && isFinished(post, index.observations))) {
      report(key, 'stays abandoned although its receiver responded later')
    }
  }
}

/** Returns when the event was abandoned; undefined if no automatic recovery must retry it. */
const abandonedAt = (
  { item, changes }: DeliveryHistory,
  { observations }: ObservationIndex,
): number | undefined => {
  const { status, last, autoRetries } = item
  if (status !== 'abandoned' || !last || autoRetries >= AUTO_RETRIES_MAX) return undefined
  const change = changes.findLast(
    ({ before, after }) => after?.status === 'abandoned' && before?.status !== 'abandoned',
  )
  // An invocation that crashed may not have recorded the health of the webhook.
  const isRecorded = observations.invocations.get(change?.by?.invocation ?? 0)?.isFinished
  return isRecorded ? change?.at : undefined
}

const startOf = ({ at, by }: ReceivedPost['post'], { observations }: ObservationIndex): number =>
  observations.invocations.get(by ?? 0)?.startedAt ?? at
