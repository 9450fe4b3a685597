import type { FailureCause } from '../../../shared/domain/webhooks/attempt.ts'
import type { DeliveryStatus } from '../../../shared/domain/webhooks/delivery.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { isEnd, isRevived, isSubscribed, REPAIRING } from './deliveries.ts'
import type { Check, DeliveryHistory, ObservationIndex, Reporter } from './observation-index.ts'
import type { ChangeOf, RawAttempt, RawDelivery } from './raw-items.ts'
import { SECOND_MS } from './time-and-money.ts'

/** 16, 17: the times of attempts, and the responses that end them. */

const CAP_SECONDS = 300

const delaysAfter = (k: number, retryAfter: number): { least: number; most: number } => {
  const base = 2 ** k
  return {
    least: Math.min(Math.max(base, retryAfter), CAP_SECONDS),
    most: Math.min(Math.max(Math.floor(1.1 * base), retryAfter), CAP_SECONDS),
  }
}

/** Returns the post of a recorded attempt, if its response was received. */
const heardOf = ({ posts }: DeliveryHistory, { id, responseCode }: RawAttempt) =>
  posts.find(
    (received) =>
      received.id === id && received.post.responseReceived && received.post.code === responseCode,
  )?.post

const attemptIn = ({ before, after }: ChangeOf<RawDelivery>): RawAttempt | undefined =>
  after?.last && after.attemptCount !== (before?.attemptCount ?? 0) ? after.last : undefined

const postOf = ({ posts }: DeliveryHistory, { id }: RawAttempt) =>
  posts.find((received) => received.id === id)?.post

/**
 * Returns when the invocation of an attempt started, else when it posted. It may not have seen
 * later writes.
 */
const startOf = (
  change: ChangeOf<RawDelivery>,
  last: RawAttempt,
  record: DeliveryHistory,
  index: ObservationIndex,
): number => index.startOf(change.by?.invocation, postOf(record, last)?.at ?? Date.parse(last.at))

export const attemptsAreSpaced: Check = (index, report) => {
  for (const record of index.deliveries.values()) {
    for (const change of record.changes) checkDelay(record, change, report)
    checkDueTimes(record, index, report)
  }
}

const checkDelay = (record: DeliveryHistory, change: ChangeOf<RawDelivery>, report: Reporter) => {
  const { before, after } = change
  const last = attemptIn(change)
  if (!last || after?.status !== 'failed') return
  const endedAt = Date.parse(last.at) + last.milliseconds
  const seconds = (Date.parse(after.nextAttemptAt ?? '') - endedAt) / SECOND_MS
  const { least, most } = delaysAfter(last.number, heardOf(record, last)?.retryAfter ?? 0)
  // The later time applies if two attempts end at once.
  const isKept = before?.status === 'failed' && before.nextAttemptAt === after.nextAttemptAt
  if (seconds < least || (seconds > most && !isKept))
    report(record.key, `waits ${seconds} s after attempt ${last.number}`)
}

const checkDueTimes = (record: DeliveryHistory, index: ObservationIndex, report: Reporter) => {
  // Two invocations, each with its own clock offset.
  const { skew } = index.observations.setup
  // An attempt that was due may be in flight when another is requested.
  let due: number | undefined
  let setAt = 0
  for (const change of record.changes) {
    const last = attemptIn(change)
    if (last) {
      const startedAt = Math.min(Date.parse(last.at), postOf(record, last)?.at ?? Infinity)
      // An attempt in flight may precede the new due time.
      const isAfter = startOf(change, last, record, index) >= setAt
      if (due !== undefined && isAfter && startedAt < due - 2 * skew)
        report(record.key, `had attempt ${last.number} ${due - startedAt} ms before it was due`)
      due = undefined
    }
    if (change.after?.nextAttemptAt) {
      due = Math.min(due ?? Infinity, Date.parse(change.after.nextAttemptAt))
      setAt = change.at
    }
  }
}

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

export const responseDecidesRetry: Check = (index, report) => {
  for (const record of index.deliveries.values()) {
    // The last end and the last revival of the record.
    let endedAt = Infinity
    let revivedAt = 0
    for (const change of record.changes) {
      const { before, after, at } = change
      if (!after) continue
      // The sweep creates a record for an event whose first attempt may be in flight.
      if (isRevived(change) || !before) [endedAt, revivedAt] = [Infinity, at]
      const last = attemptIn(change)
      if (last) {
        const startedAt = startOf(change, last, record, index)
        if (startedAt > endedAt) report(record.key, `had attempt ${last.number} after its end`)
        checkAttempt(record, { last, before, after, isRival: startedAt <= revivedAt }, report)
      } else if (after.status !== before?.status)
        checkStatusChange(record.key, change, index, report)
      if (isEnd(after.status)) endedAt = Math.min(endedAt, at)
    }
  }
}

type Attempted = {
  last: RawAttempt
  before: RawDelivery | undefined
  after: RawDelivery
  /** The attempt was in flight when the record was revived. */
  isRival: boolean
}

const checkAttempt = (
  record: DeliveryHistory,
  { last, before, after, isRival }: Attempted,
  report: Reporter,
): void => {
  const { key } = record
  const { status, attemptCount, nextAttemptAt } = after
  const expected = expectedStatus(last, before, after)
  const response = last.responseCode ?? last.cause
  // A redelivery requested during a failed attempt is still due.
  const isStillDue =
    isRival && status === 'pending' && before?.status === 'pending' && !isSuccess(last)
  if (status !== expected && !isStillDue)
    report(key, `is ${status} after ${response}, not ${expected}`)
  if ((nextAttemptAt !== null) !== (status === 'failed' || isStillDue))
    report(key, `has its next attempt at ${nextAttemptAt} after ${response}`)
  if (last.number !== attemptCount) report(key, `has another count than attempt ${last.number}`)
  if (last.responseCode !== null && !heardOf(record, last))
    report(key, `records ${last.responseCode}, which its receiver did not send`)
}

/** Without an attempt, a record is revived or ends as it did before a redelivery. */
const checkStatusChange = (
  key: string,
  change: ChangeOf<RawDelivery>,
  { disabled, timeline, startOf: started }: ObservationIndex,
  report: Reporter,
): void => {
  const { before, after, at, by, sequence } = change
  if (!after || isRevived(change)) return
  if (!before && after.status === 'pending' && REPAIRING.has(by?.name ?? '')) return
  const hooks = timeline.during('webhook', after.provider, started(by?.invocation, at), at)
  const isUnwanted = hooks.some((hook) => !isSubscribed(hook, after.event as EventName))
  const end = before?.deliveredAt ? 'delivered' : 'abandoned'
  if (after.status === end && (isUnwanted || disabled.has(after.provider))) return
  report(key, `change ${sequence} makes it ${after.status} without an attempt`)
}
