import type { SimulatedProvider } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import { type DeliveryHistory, eventKey, type ObservationIndex } from './observation-index.ts'
import type { ChangeOf, RawAttempt, RawDelivery } from './raw-items.ts'
import { isFinished, isReceived, type ReceivedPost } from './received-posts.ts'
import { SETTLED } from './time-and-money.ts'

/** 15: every subscribed event ends as delivered or abandoned. */

/** The retries of each event. */
const RETRIES: Record<string, number> = {
  created: 2,
  pending: 2,
  processing: 5,
  completed: 10,
  failed: 10,
  reversed: 5,
  settled: 5,
}

const isSubscribed = ({ webhook }: SimulatedProvider, event: string): boolean => {
  if (!webhook) return false
  const name = event === 'settled' ? 'settlement.completed' : `transaction.${event}`
  return webhook.events ? webhook.events.includes(name) : event !== 'settled'
}

type ExpectedEvent = { key: string; provider: string; event: string }

function* eventsIn({ debits, batches }: ObservationIndex): Generator<ExpectedEvent> {
  for (const [reference, { item, entries }] of debits) {
    for (const [n, { type }] of entries.entries()) {
      yield { key: eventKey(reference, n), provider: item.provider, event: type }
    }
  }
  for (const [id, { item }] of batches) {
    if (item.status === 'completed') {
      yield { key: eventKey(id, SETTLED), provider: item.provider, event: 'settled' }
    }
  }
}

export const wantedEventsEnd: Check = (index, report) => {
  for (const { key, provider, event } of eventsIn(index)) {
    const settings = index.providers.get(provider)
    const record = index.deliveries.get(key)
    if (!settings || !isSubscribed(settings, event)) {
      if (record) report(key, `has a delivery, but ${provider} did not subscribe`)
      continue
    }
    if (!record) {
      report(key, `was never attempted, but ${provider} subscribed`)
      continue
    }
    checkEnd(record.item, { key, posts: index.postsOf.get(key) ?? [], index, report })
    const first = settings.webhook?.attemptsMax ?? 1 + (RETRIES[event] ?? 0)
    checkAttempts(record, { key, first, skew: index.observations.setup.skew, report })
  }
}

type EndContext = {
  key: string
  posts: readonly ReceivedPost[]
  index: ObservationIndex
  report: Reporter
}

const checkEnd = (record: RawDelivery, { key, posts, index, report }: EndContext): void => {
  const { status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt, failedAt, reason } = record
  const received = posts.filter(
    (received) => isReceived(received) && received.post.responseReceived,
  )
  if (nextAttemptAt !== null) report(key, `is ${status}, but has a next attempt`)
  if (attemptCount > attemptsMax) report(key, `had ${attemptCount} of ${attemptsMax} attempts`)
  if (status === 'delivered') {
    const [first] = received
    if (!first) report(key, 'is delivered, but no response confirms it')
    else if (Date.parse(deliveredAt ?? '') + index.observations.setup.skew < first.post.at)
      report(key, 'is delivered too early')
    if (deliveredAt === null) report(key, 'is delivered without a time')
    return
  }
  if (status !== 'abandoned') report(key, `is ${status} at the end`)
  if (!failedAt || !reason) report(key, `is ${status} without a time and a reason`)
  if (deliveredAt !== null) report(key, `is ${status}, but was delivered`)
  // The invocation that received the response may have crashed before its write.
  if (received.some(({ post }) => isFinished(post, index.observations))) {
    report(key, 'was received')
  }
}

const REVIVING = new Set(['redeliver-event', 'manage-delivery', 'recover-deliveries'])

/** Reports whether a change revives a delivery, by request or by recovery. */
export const isRevived = ({ before, after, by }: ChangeOf<RawDelivery>): boolean =>
  after?.status === 'pending' &&
  // The sweep creates a record for an event that was never attempted.
  (before !== undefined || by?.name !== 'sweep') &&
  after.attemptCount === (before?.attemptCount ?? 0) &&
  // A repeated sweep changes neither.
  (before?.status !== 'pending' || before.nextAttemptAt !== after.nextAttemptAt)

type AttemptsContext = { key: string; first: number; skew: number; report: Reporter }

const AUTO_RETRIES_MAX = 3

/** Slow attempts are aborted; the shortest timeout of a receiver is longer. */
const ABORTED_MAX_MS = 8_000

const isAborted = ({ responseCode, cause, milliseconds }: RawAttempt): boolean =>
  responseCode === null && milliseconds < ABORTED_MAX_MS && (cause ?? '').endsWith('_timeout')

/**
 * Returns the attempts allowed after one is recorded. An attempt does not count if it was aborted,
 * or if it was in flight when the record ended or a redelivery was requested.
 */
const allowedAfter = (
  { before, after }: ChangeOf<RawDelivery>,
  { allowed, skew }: { allowed: number; skew: number },
): number => {
  if (!after?.last) return allowed
  const spare = isAborted(after.last) ? 1 : 0
  const isEnded = before?.status === 'delivered' || before?.status === 'abandoned'
  const wasInFlight =
    Date.parse(after.last.at) <= Date.parse(before?.nextAttemptAt ?? '') + 2 * skew
  const isRequested = before?.status === 'pending' && (after.status === 'pending' || wasInFlight)
  const least = isRequested ? after.attemptCount + 1 : isEnded ? after.attemptCount : 0
  return Math.max(allowed + spare, least)
}

/** Each revival allows one more attempt. */
const checkAttempts = (
  { changes }: DeliveryHistory,
  { key, first, skew, report }: AttemptsContext,
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
    if (made === 1) allowed = allowedAfter(change, { allowed, skew })
    if (after.attemptsMax > allowed) {
      report(key, `change ${sequence} allows ${after.attemptsMax} attempts, not ${allowed}`)
    }
    if (made < 0 || made > 1) report(key, `change ${sequence} counts ${made} attempts`)
    if (after.autoRetries > AUTO_RETRIES_MAX) report(key, `was revived ${after.autoRetries} times`)
  }
}
