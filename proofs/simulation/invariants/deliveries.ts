import type { DeliveryStatus } from '../../../shared/domain/webhooks/delivery.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { membersOf } from './calls.ts'
import { isConfirmed, isFinished, type ReceivedPost } from './item-histories.ts'
import { eventExpectations } from './lifecycle.ts'
import type { Check, DeliveryHistory, ObservationIndex, Reporter } from './observation-index.ts'
import type { ChangeOf, RawAttempt, RawDelivery } from './raw-items.ts'
import type { Values } from './setting-timeline.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** 15: every subscribed event ends as delivered or abandoned, and abandoned ones are recovered. */

const SETTLED_RETRIES = 5

const retriesOf = (event: EventName): number =>
  event === 'settled' ? SETTLED_RETRIES : eventExpectations[event].retries

export const isSubscribed = (webhook: Values['webhook'], event: EventName): boolean => {
  if (!webhook) return false
  const name = event === 'settled' ? 'settlement.completed' : `transaction.${event}`
  return webhook.events ? webhook.events.includes(name) : event !== 'settled'
}

/** 58: an event has a delivery if it stays subscribed until it must be attempted, at the latest by the sweep. */
export const subscribedEventsHaveDeliveries: Check = (index, report) => {
  const { events, deliveries, timeline, observations } = index
  const { isHealthy, skew, endedAt } = observations.setup
  for (const [key, { provider, type, writtenAt }] of events) {
    const from = writtenAt - 2 * skew
    const until = isHealthy ? writtenAt + ATTEMPTED_MS : endedAt
    const isIn = (hook: Values['webhook']) => isSubscribed(hook, type)
    if (deliveries.has(key)) {
      if (timeline.during('webhook', provider, from, endedAt).some(isIn)) continue
      report(key, `has a delivery, but ${provider} wants none`)
    } else if (timeline.during('webhook', provider, from, until).every(isIn)) {
      report(key, 'has no delivery')
    }
  }
}

export const wantedEventsEnd: Check = (index, report) => {
  const { skew, endedAt } = index.observations.setup
  for (const [key, { provider, type, writtenAt }] of index.events) {
    const record = index.deliveries.get(key)
    if (!record) continue
    checkEnd(record, index, report)
    const hooks = index.timeline.during('webhook', provider, writtenAt - 2 * skew, endedAt)
    const most = hooks.map((hook) => hook?.attemptsMax ?? 1 + retriesOf(type))
    checkAttempts(record, Math.max(...most), index, report)
  }
}

/** Without faults, an event is attempted within this time. */
const ATTEMPTED_MS = MINUTE_MS

const checkEnd = (
  { key, item, posts }: DeliveryHistory,
  { observations }: ObservationIndex,
  report: Reporter,
): void => {
  const { status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt, failedAt, reason } = item
  const confirmed = posts.map(({ post }) => post).filter(isConfirmed)
  if (nextAttemptAt !== null) report(key, `is ${status}, but has a next attempt`)
  if (attemptCount > attemptsMax) report(key, `had ${attemptCount} of ${attemptsMax} attempts`)
  if (status === 'delivered') {
    const [first] = confirmed
    if (!first) report(key, 'is delivered, but no response confirms it')
    else if (Date.parse(deliveredAt ?? '') + observations.setup.skew < first.at) {
      report(key, 'is delivered too early')
    }
    if (deliveredAt === null) report(key, 'is delivered without a time')
    return
  }
  if (status !== 'abandoned') report(key, `is ${status} at the end`)
  if (!failedAt || !reason) report(key, `is ${status} without a time and a reason`)
  if (deliveredAt !== null) report(key, `is ${status}, but was delivered`)
  // The invocation that received the response may have crashed before its write.
  if (confirmed.some((post) => isFinished(post, observations))) report(key, 'was received')
}

const REVIVING = new Set(['redeliver-event', 'manage-delivery', 'recover-deliveries'])

export const REPAIRING: ReadonlySet<string> = new Set(['sweep', 'manage-debit'])

export const isRevived = ({ before, after, by }: ChangeOf<RawDelivery>): boolean =>
  after?.status === 'pending' &&
  (before !== undefined || !REPAIRING.has(by?.name ?? '')) &&
  after.attemptCount === (before?.attemptCount ?? 0) &&
  // A repeated sweep changes neither.
  (before?.status !== 'pending' || before.nextAttemptAt !== after.nextAttemptAt)

const AUTO_RETRIES_MAX = 3

/** Slow attempts are aborted; the shortest timeout of a receiver is longer. */
const ABORTED_MAX_MS = 8_000

const isAborted = ({ responseCode, cause, milliseconds }: RawAttempt): boolean =>
  responseCode === null && milliseconds < ABORTED_MAX_MS && (cause ?? '').endsWith('_timeout')

const ENDS: Record<DeliveryStatus, boolean> = {
  pending: false,
  delivered: true,
  failed: false,
  abandoned: true,
}

export const isEnd = (status: DeliveryStatus | undefined): boolean =>
  status !== undefined && ENDS[status]

/**
 * Returns the attempts allowed after one is recorded. An attempt does not count if it was aborted,
 * or if it was in flight when the record ended or a redelivery was requested.
 */
const allowedAfter = ({ before, after }: ChangeOf<RawDelivery>, allowed: number, skew: number) => {
  if (!after?.last) return allowed
  const spare = isAborted(after.last) ? 1 : 0
  const wasInFlight =
    Date.parse(after.last.at) <= Date.parse(before?.nextAttemptAt ?? '') + 2 * skew
  const isRequested = before?.status === 'pending' && (after.status === 'pending' || wasInFlight)
  const least = isRequested
    ? after.attemptCount + 1
    : isEnd(before?.status)
      ? after.attemptCount
      : 0
  return Math.max(allowed + spare, least)
}

const checkAttempts = (
  { key, changes }: DeliveryHistory,
  first: number,
  { observations }: ObservationIndex,
  report: Reporter,
): void => {
  let allowed = first
  for (const change of changes) {
    const { before, after, by, sequence } = change
    if (!after) continue
    if (isRevived(change)) {
      if (by && !REVIVING.has(by.name)) report(key, `was revived by ${by.name}`)
      allowed = Math.max(allowed, after.attemptCount + 1)
    }
    const made = after.attemptCount - (before?.attemptCount ?? 0)
    if (made === 1) allowed = allowedAfter(change, allowed, observations.setup.skew)
    if (after.attemptsMax > allowed) {
      report(key, `change ${sequence} allows ${after.attemptsMax} attempts, not ${allowed}`)
    }
    if (after.nextAttemptAt && after.attemptCount >= after.attemptsMax)
      report(key, `change ${sequence} makes an attempt due that it does not allow`)
    if (made < 0 || made > 1) report(key, `change ${sequence} counts ${made} attempts`)
    if (before?.deliveredAt && after.deliveredAt !== before.deliveredAt)
      report(key, `change ${sequence} changes the time of its first success`)
    if (after.autoRetries > AUTO_RETRIES_MAX) report(key, `was revived ${after.autoRetries} times`)
  }
}

/** A recovery covers events of 72 hours; one hour is left for its start. */
const COVERED_MS = 71 * HOUR_MS

/** A recovery at that time can miss the event: the index is late, and clocks differ. */
const SETTLED_MS = 2 * MINUTE_MS

/** 15: an abandoned event is retried once its receiver responds (docs/api.md#recovery). */
export const abandonedEventsAreRecovered: Check = (index, report) => {
  const { observations } = index
  const confirmed = Map.groupBy(
    index.posts.filter(({ post }) => isConfirmed(post)),
    ({ receiver }) => receiver?.id,
  )
  for (const [key, delivery] of index.deliveries) {
    const failedAt = abandonedAt(delivery, index)
    if (failedAt === undefined) continue
    // A changed webhook may want neither the event nor a retry.
    const isChanged =
      index.timeline.during('webhook', delivery.item.provider, failedAt, observations.setup.endedAt)
        .length > 1
    const own = isChanged ? [] : (confirmed.get(delivery.item.provider) ?? [])
    const near = SETTLED_MS + 2 * observations.setup.skew
    const isNear = ({ post }: ReceivedPost): boolean =>
      post.at > failedAt - near && index.startOf(post.by, post.at) <= failedAt + near
    if (own.some(isNear)) continue
    const until = Math.min(
      Date.parse(delivery.item.occurredAt) + COVERED_MS,
      observations.setup.endedAt - HOUR_MS,
    )
    const isIgnored = own.some(
      ({ post }) => post.at > failedAt && post.at < until && isFinished(post, observations),
    )
    if (isIgnored) report(key, 'stays abandoned although its receiver responded later')
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

/** Reports whether an attempt was due at some time in a period. */
const wasDue = ({ changes }: DeliveryHistory, from: number, until: number): boolean =>
  changes.some(
    ({ after, at }, n) =>
      after?.status === 'pending' && at <= until && (changes[n + 1]?.at ?? Infinity) >= from,
  )

/** An index shows an abandoned event by then. */
const LISTED_MS = 15 * MINUTE_MS

/** 15: a redelivery makes its event due, and a recovery each abandoned event of its provider. */
export const requestedEventsAreRetried: Check = ({ observations, deliveries }, report) => {
  for (const { name, sent, at, reply } of observations.calls) {
    const { verb, options } = membersOf(sent)
    const { provider, since } = membersOf(options)
    const { data, result } = membersOf(reply?.body)
    if (!reply || reply.status >= 300) continue
    if (name === 'redeliver-event' || (name === 'manage-delivery' && verb === 'redeliver')) {
      const { reference, id } = membersOf(data ?? result)
      const record = deliveries.get(`${reference}#${Number(id) % 100}`)
      if (!record || !wasDue(record, at, reply.at))
        report(`${reference}`, 'was redelivered, but is not due')
    }
    if (name !== 'manage-delivery' || verb !== 'recover') continue
    for (const record of deliveries.values()) {
      const { item, changes, key } = record
      if (item.provider !== provider || item.occurredAt < `${since}`) continue
      const isRetried = changes.some((change) => change.at > at)
      if (!isRetried && item.status === 'abandoned' && (changes.at(-1)?.at ?? at) < at - LISTED_MS)
        report(key, 'stays abandoned although an operator recovered its provider')
    }
  }
}
