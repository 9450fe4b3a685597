import type { DeliveryStatus } from '../../../shared/domain/webhooks/delivery.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { membersOf } from './calls.ts'
import { isNews } from './events.ts'
import { isConfirmed, isFinished, type Step } from './item-histories.ts'
import { eventExpectations } from './lifecycle.ts'
import type { DeliveryHistory } from './observation-index.ts'
import { movesTo, type RawAttempt, type RawDelivery } from './raw-items.ts'
import { type Check, type Checks, eachDelivery, eachEvent } from './rules.ts'
import type { Values } from './setting-timeline.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** Every subscribed event ends as delivered or abandoned, and abandoned ones are recovered. */

const SETTLED_RETRIES = 5

const retriesOf = (event: EventName): number =>
  event === 'settled' ? SETTLED_RETRIES : eventExpectations[event].retries

export const isSubscribed = (webhook: Values['webhook'], event: EventName): boolean => {
  if (!webhook) return false
  const name = event === 'settled' ? 'settlement.completed' : `transaction.${event}`
  return webhook.events ? webhook.events.includes(name) : event !== 'settled'
}

const ATTEMPTED_MS = MINUTE_MS

/** An event has a delivery if it stays subscribed until it must be attempted, at the latest by the sweep. */
const subscribedEventsHaveDeliveries = eachEvent((event, { deliveries, timeline, setup }) => {
  const { key, provider, type, writtenAt } = event
  const { isHealthy, skew, endedAt } = setup
  const isIn = (hook: Values['webhook']) => isSubscribed(hook, type)
  const hooksUntil = (until: number) =>
    timeline.during('webhook', provider, writtenAt - 2 * skew, until)
  if (deliveries.has(key))
    return !hooksUntil(endedAt).some(isIn) && `has a delivery, but ${provider} wants none`
  const until = isHealthy ? writtenAt + ATTEMPTED_MS : endedAt
  return isNews(writtenAt, setup) && hooksUntil(until).every(isIn) && 'has no delivery'
})

const wantedEventsEnd = eachEvent(({ key }, { deliveries, observations, setup }) => {
  const { item, posts } = deliveries.get(key) ?? {}
  if (!item || !posts) return undefined
  const { status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt, failedAt, reason } = item
  const confirmed = posts.map(({ post }) => post).filter(isConfirmed)
  const always = [
    nextAttemptAt !== null && `is ${status}, but has a next attempt`,
    attemptCount > attemptsMax && `had ${attemptCount} of ${attemptsMax} attempts`,
  ]
  if (status === 'delivered') {
    const [first] = confirmed
    const isEarly = first && Date.parse(deliveredAt ?? '') + setup.skew < first.at
    return [
      ...always,
      !first && 'is delivered, but no response confirms it',
      isEarly && 'is delivered too early',
      deliveredAt === null && 'is delivered without a time',
    ]
  }
  return [
    ...always,
    status !== 'abandoned' && `is ${status} at the end`,
    (!failedAt || !reason) && `is ${status} without a time and a reason`,
    deliveredAt !== null && `is ${status}, but was delivered`,
    // The invocation that received the response may have crashed before its write.
    confirmed.some((post) => isFinished(post, observations)) && 'was received',
  ]
})

const REVIVING = new Set(['redeliver-event', 'manage-delivery', 'recover-deliveries'])

export const REPAIRING: ReadonlySet<string> = new Set(['sweep', 'manage-debit', 'manage-exception'])

export const isRevived = ({ before, after, by }: Step<RawDelivery>): boolean =>
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

const TIMED_OUT = 4408

/** A worker that began after the record of a timeout aborts no attempt. */
const mayAbort = ({ before, since }: Step<RawDelivery>, previous?: Step<RawDelivery>): boolean =>
  before?.reason !== TIMED_OUT || !previous || since <= previous.at

const ENDS: Record<DeliveryStatus, boolean> = {
  pending: false,
  delivered: true,
  failed: false,
  abandoned: true,
}

export const isEnd = (status: DeliveryStatus | undefined) => status !== undefined && ENDS[status]

/**
 * Returns the attempts allowed after one is recorded. An attempt does not count if it was in flight
 * when the record ended or a redelivery was requested.
 */
const allowedAfter = (change: Step<RawDelivery>, skew: number, allowed: number): number => {
  const { before, after } = change
  if (!after?.last) return allowed
  const wasInFlight =
    Date.parse(after.last.at) <= Date.parse(before?.nextAttemptAt ?? '') + 2 * skew
  const isRequested = before?.status === 'pending' && (after.status === 'pending' || wasInFlight)
  const ended = isEnd(before?.status) ? after.attemptCount : 0
  return Math.max(allowed, isRequested ? after.attemptCount + 1 : ended)
}

const attemptsAreAllowed = eachEvent((event, { deliveries, timeline, setup }) => {
  const { key, provider, type, writtenAt } = event
  const { changes = [] } = deliveries.get(key) ?? {}
  const hooks = timeline.during('webhook', provider, writtenAt - 2 * setup.skew, setup.endedAt)
  let allowed = Math.max(...hooks.map((hook) => hook?.attemptsMax ?? 1 + retriesOf(type)))
  return changes.flatMap((change, n) => {
    const { before, after, by, sequence } = change
    if (!after) return []
    const { attemptCount, attemptsMax, nextAttemptAt, autoRetries } = after
    const made = attemptCount - (before?.attemptCount ?? 0)
    if (isRevived(change)) allowed = Math.max(allowed, attemptCount + 1)
    const isSpare = made === 1 && after.last && isAborted(after.last)
    if (isSpare && mayAbort(change, changes[n - 1])) allowed += 1
    if (made === 1) allowed = allowedAfter(change, setup.skew, allowed)
    const isDue = nextAttemptAt && attemptCount >= attemptsMax
    const isMoved = before?.deliveredAt && after.deliveredAt !== before.deliveredAt
    return [
      isRevived(change) && by && !REVIVING.has(by.name) && `was revived by ${by.name}`,
      attemptsMax > allowed && `change ${sequence} allows ${attemptsMax} attempts, not ${allowed}`,
      isDue ? `change ${sequence} makes an attempt due that it does not allow` : undefined,
      (made < 0 || made > 1) && `change ${sequence} counts ${made} attempts`,
      isMoved ? `change ${sequence} changes the time of its first success` : undefined,
      autoRetries > AUTO_RETRIES_MAX && `was revived ${autoRetries} times`,
    ]
  })
})

/** A recovery covers events of 72 hours; one hour is left for its start. */
const COVERED_MS = 71 * HOUR_MS

/** An abandoned event is retried once its receiver responds (docs/api.md#recovery). */
const abandonedEventsAreRecovered = eachDelivery((delivery, index) => {
  const { observations, setup, timeline } = index
  const { provider, occurredAt } = delivery.item
  const abandoned = abandonmentOf(delivery, observations)
  if (!abandoned) return undefined
  const { at, notedAt } = abandoned
  // A changed webhook may want neither the event nor a retry.
  const from = Math.min(Date.parse(occurredAt), at)
  if (timeline.during('webhook', provider, from, setup.endedAt).length > 1) return undefined
  const own = index.posts.filter((one) => one.receiver?.id === provider && isConfirmed(one.post))
  const successes = own.map(({ post }) => ({
    isFinished: isFinished(post, observations),
    ...{ at: post.at, from: index.startOf(post.by, post.at) },
    until: observations.invocations.get(post.by ?? 0)?.endedAt ?? post.at,
  }))
  // The recovery of a success can miss an event that is abandoned during the success.
  const isMissed = successes.some((success) => {
    const usual = setup.isRepaired || !success.isFinished ? LISTED_MS : 0
    const near = usual + 2 * setup.skew
    return success.from <= at + near && success.until >= at - near
  })
  const until = Math.min(Date.parse(occurredAt) + COVERED_MS, setup.endedAt - HOUR_MS)
  // An invocation that began earlier can have read the health without the event.
  const isIgnored = successes.some(
    (success) => success.isFinished && success.from > notedAt && success.at < until,
  )
  return !isMissed && isIgnored && 'stays abandoned although its receiver responded later'
})

/**
 * Returns when the event was abandoned, and by when the health of its webhook noted it; undefined if no
 * automatic recovery must retry it.
 */
const abandonmentOf = (
  { item: { status, last, reason, autoRetries }, changes }: DeliveryHistory,
  { invocations }: Parameters<typeof isFinished>[1],
) => {
  const isNoted = last !== null || reason === DISABLED
  if (status !== 'abandoned' || !isNoted || autoRetries >= AUTO_RETRIES_MAX) return undefined
  const change = movesTo(changes, 'abandoned').at(-1)
  // An invocation that crashed may not have recorded the health of the webhook.
  const { isFinished, endedAt } = invocations.get(change?.by?.invocation ?? 0) ?? {}
  return change && isFinished ? { at: change.at, notedAt: endedAt ?? change.at } : undefined
}

/** The reason of an event that was abandoned without an attempt, because its webhook was disabled. */
const DISABLED = 4001

/** An index shows an abandoned event by then. */
const LISTED_MS = 15 * MINUTE_MS

/** A redelivery makes its event due, and a recovery each abandoned event of its provider. */
const requestedEventsAreRetried: Check = ({ observations, deliveries }, report) => {
  for (const { name, sent, at, reply } of observations.calls) {
    const { verb, options } = membersOf(sent)
    const { provider, since } = membersOf(options)
    const { data, result } = membersOf(reply?.body)
    if (!reply || reply.status >= 300) continue
    if (name === 'redeliver-event' || (name === 'manage-delivery' && verb === 'redeliver')) {
      const { reference, id } = membersOf(data ?? result)
      const { changes = [] } = deliveries.get(`${reference}#${Number(id) % 100}`) ?? {}
      const wasDue = changes.some(
        ({ after, at: from }, n) =>
          after?.status === 'pending' && from <= reply.at && (changes[n + 1]?.at ?? Infinity) >= at,
      )
      if (!wasDue) report(`${reference}`, 'was redelivered, but is not due')
    }
    const isRecovery = name === 'manage-delivery' && verb === 'recover'
    for (const { item, changes, key } of isRecovery ? deliveries.values() : []) {
      const lastAt = changes.at(-1)?.at ?? at
      const isCovered = item.provider === provider && item.occurredAt >= `${since}`
      if (isCovered && item.status === 'abandoned' && lastAt < at - LISTED_MS)
        report(key, 'stays abandoned although an operator recovered its provider')
    }
  }
}

const ENDED_BY_SUCCESS = ['failingSince', 'exhaustedSince', 'goneSince', 'disabledAt']

/** Each write continues the previous one, and a success ends all failures: a recovery retries their events. */
const healthFollowsAttempts: Check = ({ observations: { changes } }, report) => {
  const recoveries = new Set(changes.map(({ after }) => after && `${after.pk} ${after.sk}`))
  for (const { before, after, by } of changes) {
    if (after?.entity !== 'webhook-health' || !by) continue
    const has = (name: string): boolean => after[name] !== undefined
    const exhaustedSince = before?.exhaustedSince
    const isSuccess = after.recoveredAt !== before?.recoveredAt && has('recoveredAt')
    const isRecovered =
      !exhaustedSince ||
      recoveries.has(`${after.pk} RECOVERY#automatic-${Date.parse(`${exhaustedSince}`)}`)
    const wrong = [
      after.version !== Number(before?.version ?? 0) + 1 && 'overwrites another change',
      isSuccess && ENDED_BY_SUCCESS.some(has) && 'is failing after a success',
      exhaustedSince && !has('exhaustedSince') && !isRecovered && 'forgets events',
    ].find(Boolean)
    if (wrong) report(`${after.pk} ${after.sk}`, String(wrong))
  }
}

export const checks: Checks = {
  64: [healthFollowsAttempts],
  15: [wantedEventsEnd, attemptsAreAllowed, abandonedEventsAreRecovered, requestedEventsAreRetried],
  58: [subscribedEventsHaveDeliveries],
}
