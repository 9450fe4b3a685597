import { isTakenUp } from './deliveries.ts'
import type { Check, Reporter } from './invariant.ts'
import { type DeliveryHistory, eventKey, type ObservationIndex } from './observation-index.ts'
import type { RawAttempt, RawDelivery } from './raw-items.ts'
import type { ReceivedPost } from './received-posts.ts'
import { SECOND_MS } from './time-and-money.ts'

/** 16, 17: when the next attempt is made, and whether. */

const CAP_SECONDS = 300

/** Whole seconds before the attempt after attempt `k`. */
const delaysAfter = (k: number, retryAfter: number): { least: number; most: number } => {
  const base = 2 ** k
  return {
    least: Math.min(Math.max(base, retryAfter), CAP_SECONDS),
    most: Math.min(Math.max(Math.floor(1.1 * base), retryAfter), CAP_SECONDS),
  }
}

const endOf = ({ at, milliseconds }: RawAttempt): number => Date.parse(at) + milliseconds

/** The post that a record speaks of, if its answer was heard. */
const heardOf = (posts: readonly ReceivedPost[], { id, responseCode }: RawAttempt) =>
  posts.find(
    (received) =>
      received.id === id && received.post.responseReceived && received.post.code === responseCode,
  )

/** Each write of a delivery that an attempt led to. */
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
 * When the worker of an attempt started, or else when it posted: what was written after that, it may
 * not have received.
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

/** 16 */
export const attemptsAreSpaced: Check = (index, report) => {
  for (const [key, record] of index.deliveries) {
    const posts = index.postsOf.get(key) ?? []
    for (const { before, after, last } of attemptsIn(record)) {
      if (after.status !== 'failed') continue
      const seconds = (Date.parse(after.nextAttemptAt ?? '') - endOf(last)) / SECOND_MS
      const { least, most } = delaysAfter(last.number, heardOf(posts, last)?.post.retryAfter ?? 0)
      // The later time evaluate if two attempts end at once.
      const isKept = before?.status === 'failed' && before.nextAttemptAt === after.nextAttemptAt
      if (seconds < least || (seconds > most && !isKept)) {
        report(key, `waits ${seconds} s after attempt ${last.number}`)
      }
    }
    comesNotBefore(record, { posts, observations: index.observations }, report)
  }
}

/** An attempt is not made before it is due, or was call for. */
const comesNotBefore = (
  { item, changes }: DeliveryHistory,
  recorded: Recorded,
  report: Reporter,
): void => {
  const key = eventKey(item.reference, item.n)
  // The one who says when it is due and the one who makes it each have a clock.
  const { skew } = recorded.observations.setup
  // What was due may be on its way when another is call for: then this attempt is that.
  let due: number | undefined
  let saidAt = 0
  for (const change of changes) {
    const { before, after } = change
    if (!after) continue
    if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
      const { at, id, number } = after.last
      const post = recorded.posts.find((received) => received.id === id)?.post
      const madeAt = Math.min(Date.parse(at), post?.at ?? Infinity)
      // One that was under way is no answer to what was said after it.
      const isAfter = startOf(change, recorded) >= saidAt
      if (due !== undefined && isAfter && madeAt < due - 2 * skew) {
        report(key, `had attempt ${number} ${due - madeAt} ms before it was due`)
      }
      due = undefined
    }
    if (after.nextAttemptAt) {
      due = Math.min(due ?? Infinity, Date.parse(after.nextAttemptAt))
      saidAt = change.at
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

/** What a record must be after an attempt. */
const expected = (before: RawDelivery | undefined, after: RawDelivery): string => {
  const { last, attemptsMax, deliveredAt } = after
  if (!last) return 'pending'
  if (isSuccess(last)) return 'delivered'
  if (before && isEnd(before.status)) return before.status
  if (isRetriable(last) && last.number < attemptsMax) return 'failed'
  return deliveredAt ? 'delivered' : 'abandoned'
}

/** 17: an answer decides whether there is another attempt, and it is the receiver's own. */
export const responseDecidesRetry: Check = (index, report) => {
  for (const [key, record] of index.deliveries) {
    const posts = index.postsOf.get(key) ?? []
    const recorded = { posts, observations: index.observations }
    // When it came to its end, and when it was taken up again.
    let endedAt = Infinity
    let takenUpAt = 0
    for (const change of record.changes) {
      const { before, after, at } = change
      if (!after) continue
      if (isTakenUp(change)) [endedAt, takenUpAt] = [Infinity, at]
      if (after.last && after.attemptCount > (before?.attemptCount ?? 0)) {
        const startedAt = startOf(change, recorded)
        if (startedAt > endedAt) report(key, `had attempt ${after.last.number} after its end`)
        const isRival = startedAt <= takenUpAt
        checkAttempt({ before, after }, { key, posts, isRival, report })
      } else if (after.status !== before?.status) checkStatusChange(change, { key, index, report })
      if (isEnd(after.status)) endedAt = Math.min(endedAt, at)
    }
  }
}

type Deps = {
  key: string
  posts: readonly ReceivedPost[]
  /** It was under way when the record was taken up again. */
  isRival: boolean
  report: Reporter
}

const checkAttempt = (
  { before, after }: { before: RawDelivery | undefined; after: RawDelivery },
  { key, posts, isRival, report }: Deps,
): void => {
  const { last, status, attemptCount, nextAttemptAt } = after
  if (!last) return
  const wanted = expected(before, after)
  const said = last.responseCode ?? last.cause
  // A redelivery that was requested during a failed attempt is still due.
  const isStillDue =
    isRival && status === 'pending' && before?.status === 'pending' && !isSuccess(last)
  if (status !== wanted && !isStillDue) {
    report(key, `is ${status} after ${said}, and should be ${wanted}`)
  }
  if ((nextAttemptAt !== null) !== (status === 'failed' || isStillDue)) {
    report(key, `has its next attempt at ${nextAttemptAt} after ${said}`)
  }
  if (last.number !== attemptCount) report(key, `counts attempt ${last.number} otherwise`)
  if (last.responseCode !== null && !heardOf(posts, last)) {
    report(key, `says that attempt ${last.number} was answered ${last.responseCode}`)
  }
}

type Other = { key: string; index: ObservationIndex; report: Reporter }

/** Without an attempt it is taken up, or not to be tried any more. */
const checkStatusChange = (
  change: DeliveryHistory['changes'][number],
  { key, index, report }: Other,
): void => {
  const { before, after, by, sequence } = change
  if (!after || isTakenUp(change)) return
  // An event without an attempt gets a record for its first attempt.
  if (!before && after.status === 'pending' && by?.name === 'sweep') return
  if (after.status === 'abandoned' && index.disabled.has(after.provider)) return
  report(key, `change ${sequence} makes it ${after.status} without an attempt`)
}
