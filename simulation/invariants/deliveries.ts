import type { SimulatedProvider } from '../engine/observations.ts'
import type { Check, Reporter } from './invariant.ts'
import { type DeliveryHistory, eventKey, type ObservationIndex } from './observation-index.ts'
import type { ChangeOf, RawAttempt, RawDelivery } from './raw-items.ts'
import { isFinished, isReceived, type ReceivedPost } from './received-posts.ts'
import { SETTLED } from './time-and-money.ts'

/** 15: each event that a provider wants comes to an end, and nothing is said that did not happen. */

/** Attempts after the first, by the priority of the event. */
const RETRIES: Record<string, number> = {
  created: 2,
  pending: 2,
  processing: 5,
  completed: 10,
  failed: 10,
  reversed: 5,
  settled: 5,
}

const isWanted = ({ webhook }: SimulatedProvider, event: string): boolean => {
  if (!webhook) return false
  const name = event === 'settled' ? 'settlement.completed' : `transaction.${event}`
  return webhook.events ? webhook.events.includes(name) : event !== 'settled'
}

type Owed = { key: string; provider: string; event: string }

function* eventsIn({ debits, batches }: ObservationIndex): Generator<Owed> {
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
    if (!settings || !isWanted(settings, event)) {
      if (record) report(key, `is not wanted by ${provider}, and is owed`)
      continue
    }
    if (!record) {
      report(key, `is wanted by ${provider}, and was never tried`)
      continue
    }
    checkEnd(record.item, { key, posts: index.postsOf.get(key) ?? [], index, report })
    const first = settings.webhook?.attemptsMax ?? 1 + (RETRIES[event] ?? 0)
    checkAttempts(record, { key, first, report })
  }
}

type Judged = {
  key: string
  posts: readonly ReceivedPost[]
  index: ObservationIndex
  report: Reporter
}

const checkEnd = (record: RawDelivery, { key, posts, index, report }: Judged): void => {
  const { status, attemptCount, attemptsMax, nextAttemptAt, deliveredAt, failedAt, reason } = record
  const received = posts.filter(
    (received) => isReceived(received) && received.post.responseReceived,
  )
  if (nextAttemptAt !== null) report(key, `is ${status}, and waits for an attempt`)
  if (attemptCount > attemptsMax) report(key, `had ${attemptCount} of ${attemptsMax} attempts`)
  if (status === 'delivered') {
    const [first] = received
    if (!first) report(key, 'is delivered, and nobody said that it was received')
    else if (Date.parse(deliveredAt ?? '') + index.observations.setup.skew < first.post.at)
      report(key, 'is delivered too early')
    if (deliveredAt === null) report(key, 'is delivered at no time')
    return
  }
  if (status !== 'abandoned') report(key, `is ${status} in the end`)
  if (!failedAt || !reason) report(key, `is ${status} without a time and a reason`)
  if (deliveredAt !== null) report(key, `is ${status}, and was delivered`)
  // Who heard it may have been lost before it was written down.
  if (received.some(({ post }) => isFinished(post, index.observations))) {
    report(key, 'was received after all')
  }
}

const ASKING = new Set(['redeliver-event', 'manage-delivery', 'recover-deliveries'])

/** Whether a change takes a delivery up again, on somebody's word or as its webhook recovered. */
export const isTakenUp = ({ before, after, by }: ChangeOf<RawDelivery>): boolean =>
  after?.status === 'pending' &&
  // One that was never tried is put on record by the sweep, for its first attempt.
  (before !== undefined || by?.name !== 'sweep') &&
  after.attemptCount === (before?.attemptCount ?? 0) &&
  // A later look of the sweep changes neither.
  (before?.status !== 'pending' || before.nextAttemptAt !== after.nextAttemptAt)

type Attempts = { key: string; first: number; report: Reporter }

const AUTO_RETRIES_MAX = 3

/** An attempt that is aborted because it is slow: receivers are given at least twice as long. */
const ABORTED_MAX_MS = 8_000

const isAborted = ({ responseCode, cause, milliseconds }: RawAttempt): boolean =>
  responseCode === null && milliseconds < ABORTED_MAX_MS && (cause ?? '').endsWith('_timeout')

/**
 * How many attempts are allowed after one was recorded: one that was under way when the record ended
 * or when a redelivery was requested does not count, nor does one that was aborted.
 */
const allowedAfter = ({ before, after }: ChangeOf<RawDelivery>, allowed: number): number => {
  if (!after?.last) return allowed
  const spare = isAborted(after.last) ? 1 : 0
  const isEnded = before?.status === 'delivered' || before?.status === 'abandoned'
  const isRequested = before?.status === 'pending' && after.status === 'pending'
  const least = isRequested ? after.attemptCount + 1 : isEnded ? after.attemptCount : 0
  return Math.max(allowed + spare, least)
}

/** More attempts than at first are allowed by one for each time that it was taken up again. */
const checkAttempts = ({ changes }: DeliveryHistory, { key, first, report }: Attempts): void => {
  let allowed = first
  for (const change of changes) {
    const { before, after, by, sequence } = change
    if (!after) continue
    if (isTakenUp(change)) {
      if (by && !ASKING.has(by.name)) report(key, `was taken up again by ${by.name}`)
      allowed = Math.max(allowed, after.attemptCount + 1)
    }
    const made = after.attemptCount - (before?.attemptCount ?? 0)
    if (made === 1) allowed = allowedAfter(change, allowed)
    if (after.attemptsMax > allowed) {
      report(key, `change ${sequence} allows ${after.attemptsMax} attempts, not ${allowed}`)
    }
    if (made < 0 || made > 1) report(key, `change ${sequence} counts ${made} attempts`)
    if (after.autoRetries > AUTO_RETRIES_MAX) report(key, `was taken up ${after.autoRetries} times`)
  }
}
