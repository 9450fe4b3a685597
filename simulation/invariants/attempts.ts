import { isRevived } from './deliveries.ts'
import type { Check, Reporter } from './invariant.ts'
import { type DeliveryHistory, eventKey, type ObservationIndex } from './observation-index.ts'
import type { RawAttempt, RawDelivery } from './raw-items.ts'
import type { ReceivedPost } from './received-posts.ts'
import { SECOND_MS } from './time-and-money.ts'

/** 16, 17: the times of attempts, and the responses that end them. */

const CAP_SECONDS = 300

/** Returns the delay after attempt `k`, in seconds. */
const delaysAfter = (k: number, retryAfter: number): { least: number; most: number } => {
  const base = 2 ** k
  return {
    least: Math.min(Math.max(base, retryAfter), CAP_SECONDS),
    most: Math.min(Math.max(Math.floor(1.1 * base), retryAfter), CAP_SECONDS),
  }
}

const endOf = ({ at, milliseconds }: RawAttempt): number => Date.parse(at) + milliseconds

/** Returns the post of a recorded attempt, if its response was received. */
const heardOf = (posts: readonly ReceivedPost[], { id, responseCode }: RawAttempt) =>
  posts.find(
    (received) =>
      received.id === id && received.post.responseReceived && received.post.code === responseCode,
  )

/** Yields the writes of a delivery that record an attempt. */
function* attemptsIn({ changes }: DeliveryHistory) {
  for (const { before, after } of changes) {
    if (!after?.last || after.attemptCount === (before?.attemptCount ?? 0)) continue
    yield { before, after, last: after.last }
  }
}

type Recorded = {
  posts: readonly ReceivedPost[]
  observations: ObservationIndex['observations']
}

/**
 * Returns when the invocation of an attempt started, else when it posted. It may not have seen
 * later writes.
 */
const startOf = (
  { by, after }: DeliveryHistory['changes'][number],
  { posts, observations }: Recorded,
): number => {
  const record = observations.invocations.get(by?.invocation ?? Number.NaN)
  const last = after?.last
  const post = posts.find(({ id }) => id === last?.id)?.post
  return record?.startedAt ?? post?.at ?? Date.parse(last?.at ?? '')
}

export const attemptsAreSpaced: Check = (index, report) => {
  for (const [key, record] of index.deliveries) {
    const posts = index.postsOf.get(key) ?? []
    for (const { before, after, last } of attemptsIn(record)) {
      if (after.status !== 'failed') continue
      const seconds = (Date.parse(after.nextAttemptAt ?? '') - endOf(last)) / SECOND_MS
      const { least, most } = delaysAfter(last.number, heardOf(posts, last)?.post.retryAfter ?? 0)
      // The later time applies if two attempts end at once.
      const isKept = before?.status === 'failed' && before.nextAttemptAt === after.nextAttemptAt
      if (seconds < least || (seconds > most && !isKept)) {
        report(key, `waits ${seconds} s after attempt ${last.number}`)
      }
    }
    checkDueTimes(record, { posts, observations: index.observations }, report)
  }
}

/** 16: no attempt starts before it is due or requested. */
const checkDueTimes = (
  { item, changes }: DeliveryHistory,
  recorded: Recorded,
  report: Reporter,
): void => {
  const key = eventKey(item.reference, item.n)
  // Two invocations, each with its own clock offset.
  const { skew } = recorded.observations.setup
  // An attempt that was due may be in flight when another is requested.
  let due: number | undefined
  let setAt = 0
  for (const change of changes) {
    const { before, after } = change
    if (!after) continue
    if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
      const { at, id, number } = after.last
      const post = recorded.posts.find((received) => received.id === id)?.post
      const startedAt = Math.min(Date.parse(at), post?.at ?? Infinity)
      // An attempt in flight may precede the new due time.
      const isAfter = startOf(change, recorded) >= setAt
      if (due !== undefined && isAfter && startedAt < due - 2 * skew) {
        report(key, `had attempt ${number} ${due - startedAt} ms before it was due`)
      }
      due = undefined
    }
    if (after.nextAttemptAt) {
      due = Math.min(due ?? Infinity, Date.parse(after.nextAttemptAt))
      setAt = change.at
    }
  }
}

const RETRIABLE_CODES = new Set([408, 429, 500, 502, 503, 504])
const NETWORK = new Set(['connect_timeout', 'read_timeout', 'refused', 'broken', 'dns', 'tls'])

const isSuccess = ({ responseCode }: RawAttempt): boolean =>
  responseCode !== null && responseCode >= 200 && responseCode < 300

const isRetriable = ({ responseCode, cause }: RawAttempt): boolean =>
  responseCode === null ? NETWORK.has(cause ?? '') : RETRIABLE_CODES.has(responseCode)

const isEnd = (status: string | undefined): boolean =>
  status === 'delivered' || status === 'abandoned'

/** Returns the status that a record must have after an attempt. */
const expectedStatus = (before: RawDelivery | undefined, after: RawDelivery): string => {
  const { last, attemptsMax, deliveredAt } = after
  if (!last) return 'pending'
  if (isSuccess(last)) return 'delivered'
  if (before && isEnd(before.status)) return before.status
  if (isRetriable(last) && last.number < attemptsMax) return 'failed'
  return deliveredAt ? 'delivered' : 'abandoned'
}

/** 17: the receiver's response decides whether a retry follows. */
export const responseDecidesRetry: Check = (index, report) => {
  for (const [key, record] of index.deliveries) {
    const posts = index.postsOf.get(key) ?? []
    const recorded = { posts, observations: index.observations }
    // The last end and the last revival of the record.
    let endedAt = Infinity
    let revivedAt = 0
    for (const change of record.changes) {
      const { before, after, at } = change
      if (!after) continue
      // The sweep creates a record for an event whose first attempt may be in flight.
      if (isRevived(change) || !before) [endedAt, revivedAt] = [Infinity, at]
      if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
        const startedAt = startOf(change, recorded)
        if (startedAt > endedAt) report(key, `had attempt ${after.last.number} after its end`)
        const isRival = startedAt <= revivedAt
        checkAttempt({ before, after }, { key, posts, isRival, report })
      } else if (after.status !== before?.status) checkStatusChange(change, { key, index, report })
      if (isEnd(after.status)) endedAt = Math.min(endedAt, at)
    }
  }
}

type Context = {
  key: string
  posts: readonly ReceivedPost[]
  /** The attempt was in flight when the record was revived. */
  isRival: boolean
  report: Reporter
}

const checkAttempt = (
  { before, after }: { before: RawDelivery | undefined; after: RawDelivery },
  { key, posts, isRival, report }: Context,
): void => {
  const { last, status, attemptCount, nextAttemptAt } = after
  if (!last) return
  const expected = expectedStatus(before, after)
  const response = last.responseCode ?? last.cause
  // A redelivery requested during a failed attempt is still due.
  const isStillDue =
    isRival && status === 'pending' && before?.status === 'pending' && !isSuccess(last)
  if (status !== expected && !isStillDue) {
    report(key, `is ${status} after ${response}, not ${expected}`)
  }
  if ((nextAttemptAt !== null) !== (status === 'failed' || isStillDue)) {
    report(key, `has its next attempt at ${nextAttemptAt} after ${response}`)
  }
  if (last.number !== attemptCount) report(key, `has another count than attempt ${last.number}`)
  if (last.responseCode !== null && !heardOf(posts, last)) {
    report(
      key,
      `records ${last.responseCode} for attempt ${last.number}, which its receiver did not send`,
    )
  }
}

type Other = { key: string; index: ObservationIndex; report: Reporter }

/** Without an attempt, a record is revived or abandoned. */
const checkStatusChange = (
  change: DeliveryHistory['changes'][number],
  { key, index, report }: Other,
): void => {
  const { before, after, by, sequence } = change
  if (!after || isRevived(change)) return
  // The sweep creates a record for an event that was never attempted.
  if (!before && after.status === 'pending' && by?.name === 'sweep') return
  if (after.status === 'abandoned' && index.disabled.has(after.provider)) return
  report(key, `change ${sequence} makes it ${after.status} without an attempt`)
}
