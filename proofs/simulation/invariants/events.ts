import type { Post } from '../engine/observations.ts'
import { isFinished, type ReceivedPost } from './item-histories.ts'
import type { Check, ObservationIndex, Reporter } from './observation-index.ts'
import { differing, eventOf, settledEventOf } from './payload.ts'
import type { RawAttempt } from './raw-items.ts'
import { eventNumber, SETTLED } from './time-and-money.ts'

/** 13, 14, 50: events, their ids and their contents. */

const numberOf = ({ reference, n }: ReceivedPost, { debits, batches }: ObservationIndex): number =>
  n === SETTLED
    ? eventNumber(reference, n, batches.get(reference)?.item.completedGeneration)
    : eventNumber(reference, n, debits.get(reference)?.entries[n]?.gen)

/**
 * 13: an event has one id, derived from its debit and number. Each POST has its own id, and is
 * recorded unless its invocation crashed.
 */
export const eventIdsAreStable: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const number = numberOf(first, index)
    const event = `evt_${number}`
    const shape = new RegExp(`^dlv_${number}_[0-9a-f]{16}$`)
    const recorded = new Map(index.deliveries.get(key)?.attempts.map((one) => [one.id, one]))
    for (const { id, post, body } of posts) {
      const { 'x-svc-event-id': named, 'webhook-id': webhookId } = post.headers
      const ids = [body.event_id, named, webhookId]
      if (ids.some((one) => one !== event)) report(key, `has the ids ${ids}, not ${event}`)
      if (post.headers['x-svc-event'] !== body.event) report(key, 'has another type')
      if (!shape.test(id)) report(key, `has an attempt named ${id}`)
      const attempt = recorded.get(id)
      if (!attempt && isFinished(post, index.observations)) report(key, `has no record of ${id}`)
      if (attempt && !isOfPost(attempt, post, index.observations.setup.skew))
        report(key, `has another request than the record ${id}`)
    }
    const ids = posts.map(({ id }) => id)
    if (new Set(ids).size < ids.length) report(key, `has repeated attempt ids: ${ids}`)
  }
}

/** Connecting takes a part of the attempt. */
const CONNECTING_MS = 30_000

const isOfPost = ({ at, sentAs, responseCode }: RawAttempt, post: Post, skew: number): boolean => {
  const before = post.at - Date.parse(at)
  return (
    sentAs === post.headers['x-svc-event'] &&
    (!post.responseReceived || responseCode === post.code) &&
    before >= -skew &&
    before <= CONNECTING_MS + skew
  )
}

export const attemptsAreRecorded: Check = ({ deliveries }, report) => {
  for (const [key, { item, attempts }] of deliveries) {
    // After a crash, the last attempt may be stored in both places.
    const ids = new Set(attempts.map(({ id }) => id))
    const places = new Set(attempts.map(({ id, number }) => `${number} ${id}`))
    const numbers = new Set(attempts.map(({ number }) => number))
    const counts = [ids.size, places.size, numbers.size, Math.max(0, ...numbers)]
    if (counts.every((count) => count === item.attemptCount)) continue
    report(key, `counts ${item.attemptCount} attempts, but records ${[...ids]}`)
  }
}

/** 50: an id names one event, also after a restore: receivers deduplicate by it. */
export const eventIdsNameOneEvent: Check = ({ posts }, report) => {
  const events = new Map<string, string>()
  for (const { post, reference, body } of posts) {
    const id = String(post.headers['x-svc-event-id'])
    const event = `${body.event} ${reference}`
    const known = events.get(id) ?? event
    events.set(id, known)
    if (known !== event) report(reference, `${id} names ${known} and ${event}`)
  }
}

export const eventsHaveNoGaps: Check = ({ events, feeds, deliveries }, report) => {
  for (const [key, { provider }] of events) {
    if (!feeds.get(provider)?.has(key)) report(key, `is not in the feed of ${provider}`)
  }
  for (const [provider, feed] of feeds) {
    for (const key of feed) {
      if (!events.has(key)) report(key, `is in the feed of ${provider}, but never happened`)
    }
  }
  for (const [key, { item }] of deliveries) {
    const event = events.get(key)
    if (!event) report(key, 'has a delivery, but never happened')
    if (!event) continue
    const isOf = item.event === event.type && Date.parse(item.occurredAt) === event.writtenAt
    if (!isOf) report(key, `has a delivery of ${item.event} at ${item.occurredAt}`)
  }
}

/** 14: a payload shows the state at its event, with equal bytes in each attempt. */
export const payloadsShowTheirState: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) {
      const other = posts.find(({ body }) => body.event !== 'ping')
      if (other) report(String(other.body.event_id), 'has no subject')
      continue
    }
    if (posts.some(({ post }) => post.raw !== first.post.raw))
      report(key, 'was published with different bytes')
    if (index.events.has(key)) checkPayload(key, first, index, report)
    else report(key, 'was published, but never happened')
  }
}

const checkPayload = (
  key: string,
  { reference, n, body }: ReceivedPost,
  { debits, batches }: ObservationIndex,
  report: Reporter,
): void => {
  const debit = debits.get(reference)
  const batch = batches.get(reference)?.item
  const expected = debit ? eventOf(debit, n) : batch && settledEventOf(batch)
  const wrong = expected && differing(body, expected)
  if (wrong) report(key, `was published with another ${wrong}`)
}
