import { isDeepStrictEqual } from 'node:util'
import { allOf, type Check, type Reporter } from './invariant.ts'
import { eventKey, type ObservationIndex } from './observation-index.ts'
import { differing, eventOf, settledEventOf } from './payload.ts'
import { isFinished, type ReceivedPost } from './received-posts.ts'
import { type Members, membersOf } from './reply.ts'
import { eventNumber, SETTLED } from './time-and-money.ts'

/** 13, 14: events, their ids and their contents. */

const headersOf = ({ post }: ReceivedPost): Record<string, string> => post.headers

const numberOf = ({ reference, n }: ReceivedPost, { debits, batches }: ObservationIndex): number =>
  n === SETTLED
    ? eventNumber(reference, n, batches.get(reference)?.item.completedGeneration)
    : eventNumber(reference, n, debits.get(reference)?.entries[n]?.gen)

/** 13: an event has one id, derived from its debit and number. */
const eventHasOneId: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const number = numberOf(first, index)
    const id = `evt_${number}`
    for (const received of posts) {
      const { 'x-svc-event-id': named, 'webhook-id': webhookId } = headersOf(received)
      if (received.body.event_id !== id || named !== id || webhookId !== id) {
        report(
          key,
          `has the ids ${received.body.event_id}, ${named}, ${webhookId} instead of ${id}`,
        )
      }
      if (headersOf(received)['x-svc-event'] !== received.body.event)
        report(key, 'has another type')
    }
  }
}

/** 13: each POST has its own id, and is recorded unless its invocation crashed. */
const postsAreRecorded: Check = (index, report) => {
  const { postsOf, deliveries, observations } = index
  for (const [key, posts] of postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const ids = posts.map(({ id }) => id)
    const shape = new RegExp(`^dlv_${numberOf(first, index)}_[0-9a-f]{16}$`)
    for (const id of ids) if (!shape.test(id)) report(key, `has an attempt named ${id}`)
    if (new Set(ids).size < ids.length) report(key, `has repeated attempt ids: ${ids}`)
    const onRecord = new Set(deliveries.get(key)?.attempts.map(({ id }) => id))
    for (const { id, post } of posts) {
      if (!onRecord.has(id) && isFinished(post, observations)) report(key, `has no record of ${id}`)
    }
  }
  for (const [key, { item, attempts }] of deliveries) {
    // After a crash, the last attempt may be stored in both places.
    const [ids, places] = [new Set<string>(), new Set<string>()]
    for (const { id, number } of attempts) [ids.add(id), places.add(`${number} ${id}`)]
    if (ids.size === item.attemptCount && places.size === ids.size) continue
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

export const eventIdsAreStable = allOf(eventHasOneId, postsAreRecorded)

/** 14: the feed and the deliveries have exactly the events of the history. */
const eventsHaveNoGaps: Check = (index, report) => {
  const { debits, batches, feeds, deliveries } = index
  const expected = new Set<string>()
  const happened = (key: string, provider: string): void => {
    expected.add(key)
    if (!feeds.get(provider)?.has(key)) report(key, `is not in the feed of ${provider}`)
  }
  for (const [reference, { item, entries }] of debits) {
    entries.forEach((_, n) => {
      happened(eventKey(reference, n), item.provider)
    })
  }
  for (const [id, { item }] of batches) {
    if (item.status === 'completed') happened(eventKey(id, SETTLED), item.provider)
  }
  for (const [provider, feed] of feeds) {
    for (const key of feed)
      if (!expected.has(key)) report(key, `is in the feed of ${provider}, but never happened`)
  }
  for (const [key, { item }] of deliveries) {
    if (!expected.has(key)) report(key, 'has a delivery, but never happened')
    const entry = debits.get(item.reference)?.entries[item.n]
    if (!entry) continue
    const isOf = item.event === entry.type && Date.parse(item.occurredAt) === entry.writtenAt
    if (!isOf) report(key, `has a delivery of ${item.event} at ${item.occurredAt}`)
  }
}

/** 14: a payload shows the state at its event, with equal bytes in each attempt. */
const payloadsShowTheirState: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) {
      for (const { body } of posts) checkPing(body, report)
      continue
    }
    if (posts.some(({ post }) => post.raw !== first.post.raw))
      report(key, 'was published with different bytes')
    checkPayload(first, index, report)
  }
}

const checkPayload = (
  received: ReceivedPost,
  { debits, batches }: ObservationIndex,
  report: Reporter,
): void => {
  const { about, reference, n, body, subject } = received
  const key = eventKey(reference, n)
  if (about === 'transaction') {
    const debit = debits.get(reference)
    if (!debit?.entries[n]) {
      report(key, 'was published, but never happened')
      return
    }
    const { transaction, metadata, error_details, refund, ...envelope } = eventOf(debit, n)
    const data = membersOf(body.data)
    const wrong =
      differing(body, envelope) ??
      differing(subject, transaction) ??
      differing(data, { refund }) ??
      (isDeepStrictEqual(data.metadata, metadata) ? undefined : 'metadata') ??
      (isDeepStrictEqual(data.error_details, error_details) ? undefined : 'error_details')
    if (wrong) report(key, `was published with another ${wrong}`)
  } else {
    const batch = batches.get(reference)?.item
    if (batch?.status !== 'completed') {
      report(key, 'was published, but never happened')
      return
    }
    const { settlement, ...envelope } = settledEventOf(batch)
    const wrong = differing(body, envelope) ?? differing(subject, settlement)
    if (wrong) report(key, `was published with another ${wrong}`)
  }
}

const checkPing = (body: Members, report: Reporter): void => {
  if (body.event !== 'ping') report(String(body.event_id), 'has no subject')
}

export const eventsMatchHistory = allOf(eventsHaveNoGaps, payloadsShowTheirState)
