import type { FailureCause } from '../../../shared/domain/webhooks/attempt.ts'
import type { DeliveryStatus } from '../../../shared/domain/webhooks/delivery.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { isEnd, isRevived, isSubscribed, REPAIRING } from './deliveries.ts'
import type { Step } from './item-histories.ts'
import type { DeliveryHistory, ObservationIndex } from './observation-index.ts'
import type { RawAttempt, RawDelivery } from './raw-items.ts'
import { type Checks, eachDelivery } from './rules.ts'
import { SECOND_MS } from './time-and-money.ts'

/** The times of attempts, and the responses that end them. */

const CAP_SECONDS = 300

const postOf = ({ posts }: DeliveryHistory, { id }: RawAttempt) =>
  posts.find((received) => received.id === id)?.post

/** Returns the post of a recorded attempt, if its response was received. */
const heardOf = ({ posts }: DeliveryHistory, { id, responseCode }: RawAttempt) =>
  posts.find(
    (received) =>
      received.id === id && received.post.responseReceived && received.post.code === responseCode,
  )?.post

const attemptIn = ({ before, after }: Step<RawDelivery>): RawAttempt | undefined =>
  after?.last && after.attemptCount !== (before?.attemptCount ?? 0) ? after.last : undefined

/** Returns when the invocation of an attempt started, else when it posted. It may not have seen later writes. */
const startOf = (
  { by }: Step<RawDelivery>,
  last: RawAttempt,
  record: DeliveryHistory,
  index: ObservationIndex,
): number => index.startOf(by?.invocation, postOf(record, last)?.at ?? Date.parse(last.at))

const retriesHaveDelays = eachDelivery((record) =>
  record.changes.map((change) => {
    const { before, after } = change
    const last = attemptIn(change)
    if (!last || after?.status !== 'failed') return undefined
    const endedAt = Date.parse(last.at) + last.milliseconds
    const seconds = (Date.parse(after.nextAttemptAt ?? '') - endedAt) / SECOND_MS
    const [base, retryAfter] = [2 ** last.number, heardOf(record, last)?.retryAfter ?? 0]
    const [least = 0, most = 0] = [base, Math.floor(1.1 * base)].map((delay) =>
      Math.min(Math.max(delay, retryAfter), CAP_SECONDS),
    )
    // The later time applies if two attempts end at once.
    const isKept = before?.status === 'failed' && before.nextAttemptAt === after.nextAttemptAt
    const isWrong = seconds < least || (seconds > most && !isKept)
    return isWrong && `waits ${seconds} s after attempt ${last.number}`
  }),
)

const attemptsFollowDueTimes = eachDelivery((record, index) => {
  // An attempt that was due may be in flight when another is requested.
  let due: number | undefined
  let setAt = 0
  return record.changes.map((change) => {
    const last = attemptIn(change)
    const earlier = due ?? -Infinity
    const at = last ? Math.min(Date.parse(last.at), postOf(record, last)?.at ?? Infinity) : Infinity
    // An attempt in flight may precede the new due time. Two invocations have clock offsets of their own.
    const isEarly =
      last && startOf(change, last, record, index) >= setAt && at < earlier - 2 * index.setup.skew
    if (last) due = undefined
    if (change.after?.nextAttemptAt) {
      due = Math.min(due ?? Infinity, Date.parse(change.after.nextAttemptAt))
      setAt = change.at
    }
    return isEarly && `had attempt ${last.number} ${earlier - at} ms before it was due`
  })
})

const RETRIABLE_CODES = new Set([408, 429, 500, 502, 503, 504])
/** The causes after which an attempt without a response is retried. */
const NETWORK: Record<FailureCause, boolean> = {
  connect_timeout: true,
  read_timeout: true,
  refused: true,
  broken: true,
  dns: true,
  tls: true,
  address: false,
  redirect: false,
  status: false,
}

const isSuccess = ({ responseCode }: RawAttempt): boolean =>
  responseCode !== null && responseCode >= 200 && responseCode < 300

const isRetriable = ({ responseCode, cause }: RawAttempt): boolean =>
  responseCode === null ? cause !== null && NETWORK[cause] : RETRIABLE_CODES.has(responseCode)

const expectedStatus = (
  last: RawAttempt,
  before: RawDelivery | undefined,
  { attemptsMax, deliveredAt }: RawDelivery,
): DeliveryStatus => {
  if (isSuccess(last)) return 'delivered'
  if (before && isEnd(before.status)) return before.status
  if (isRetriable(last) && last.number < attemptsMax) return 'failed'
  return deliveredAt ? 'delivered' : 'abandoned'
}

const responsesDecideRetries = eachDelivery((record, index) => {
  // The last end and the last revival of the record.
  let endedAt = Infinity
  let revivedAt = 0
  return record.changes.flatMap((change) => {
    const { before, after, at } = change
    if (!after) return []
    // The sweep creates a record for an event whose first attempt may be in flight.
    if (isRevived(change) || !before) [endedAt, revivedAt] = [Infinity, at]
    const end = endedAt
    if (isEnd(after.status)) endedAt = Math.min(endedAt, at)
    const last = attemptIn(change)
    if (!last) return [after.status !== before?.status && wrongMoveIn(change, after, index)]
    const { status, attemptCount, nextAttemptAt } = after
    const startedAt = startOf(change, last, record, index)
    const expected = expectedStatus(last, before, after)
    const response = last.responseCode ?? last.cause
    // A redelivery requested during a failed attempt, which was in flight at its revival, is still due.
    const isStillDue =
      startedAt <= revivedAt &&
      status === 'pending' &&
      before?.status === 'pending' &&
      !isSuccess(last)
    return [
      startedAt > end && `had attempt ${last.number} after its end`,
      status !== expected && !isStillDue && `is ${status} after ${response}, not ${expected}`,
      (nextAttemptAt !== null) !== (status === 'failed' || isStillDue) &&
        `has its next attempt at ${nextAttemptAt} after ${response}`,
      last.number !== attemptCount && `has another count than attempt ${last.number}`,
      last.responseCode !== null &&
        !heardOf(record, last) &&
        `records ${last.responseCode}, which its receiver did not send`,
    ]
  })
})

/** Without an attempt, a record is revived or ends as it did before a redelivery. */
const wrongMoveIn = (
  change: Step<RawDelivery>,
  after: RawDelivery,
  { disabled, timeline }: ObservationIndex,
): string | false => {
  const { before, at, by, sequence, since } = change
  const isRepair = !before && after.status === 'pending' && REPAIRING.has(by?.name ?? '')
  const hooks = timeline.during('webhook', after.provider, since, at)
  const isUnwanted = hooks.some((hook) => !isSubscribed(hook, after.event as EventName))
  const isEnded =
    after.status === (before?.deliveredAt ? 'delivered' : 'abandoned') &&
    (isUnwanted || disabled.has(after.provider))
  const isRight = isRevived(change) || isRepair || isEnded
  return !isRight && `change ${sequence} makes it ${after.status} without an attempt`
}

export const checks: Checks = {
  16: [retriesHaveDelays, attemptsFollowDueTimes],
  17: [responsesDecideRetries],
}
