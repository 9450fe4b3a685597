import type { Check } from './invariant.ts'
import type { DeliveryHistory, ObservationIndex } from './observation-index.ts'
import { isFinished, isReceived, type ReceivedPost } from './received-posts.ts'

/** 15: an abandoned event is retried after its receiver answers again (docs/api.md#recovery). */

const HOUR_MS = 3_600_000

/** A recovery covers the events of this long; one hour less, for the time until it runs. */
const COVERED_MS = 71 * HOUR_MS

const AUTO_RETRIES_MAX = 3

/** A recovery that runs this soon after a failure may miss it: the index is up to a minute late. */
const SETTLED_MS = 120_000

export const abandonedEventsAreRecovered: Check = (index, report) => {
  const { endedAt } = index.observations.setup
  const received = Map.groupBy(
    index.posts.filter((seen) => isReceived(seen) && seen.post.heard),
    ({ receiver }) => receiver?.id,
  )
  for (const [key, delivery] of index.deliveries) {
    const failedAt = abandonedAt(delivery, index)
    if (failedAt === undefined) continue
    const later = (received.get(delivery.item.provider) ?? []).filter(
      ({ post }) => post.at > failedAt,
    )
    if (later.some(({ post }) => startOf(post, index) <= failedAt + SETTLED_MS)) continue
    const until = Math.min(Date.parse(delivery.item.occurredAt) + COVERED_MS, endedAt - HOUR_MS)
    if (later.some(({ post }) => post.at < until && isFinished(post, index.observations))) {
      report(key, 'stays abandoned, although its receiver answered later')
    }
  }
}

/** When its last attempt was recorded, if an automatic recovery must retry it. */
const abandonedAt = (
  { item, changes }: DeliveryHistory,
  { observations }: ObservationIndex,
): number | undefined => {
  const { status, last, autoRetries } = item
  if (status !== 'abandoned' || !last || autoRetries >= AUTO_RETRIES_MAX) return undefined
  const change = changes.findLast(
    ({ before, after }) => after?.status === 'abandoned' && before?.status !== 'abandoned',
  )
  // A worker that is lost here may not have recorded that the webhook owes this event.
  const isRecorded = observations.invocations.get(change?.by?.invocation ?? 0)?.isFinished
  return isRecorded ? change?.at : undefined
}

const startOf = ({ at, by }: ReceivedPost['post'], { observations }: ObservationIndex): number =>
  observations.invocations.get(by ?? 0)?.startedAt ?? at
