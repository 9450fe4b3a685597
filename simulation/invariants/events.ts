import { isDeepStrictEqual } from 'node:util'
import { allOf, type Check, type Reporter } from './invariant.ts'
import { eventKey, type ObservationIndex } from './observation-index.ts'
import { differing, eventOf, settledEventOf } from './payload.ts'
import { isFinished, type ReceivedPost } from './received-posts.ts'
import { type Members, membersOf } from './reply.ts'
import { eventNumber, SETTLED } from './time-and-money.ts'

/** 13, 14: events, their ids, and what they say. */

const headersOf = ({ post }: ReceivedPost): Record<string, string> => post.headers

const numberOf = ({ reference, n }: ReceivedPost, { debits, batches }: ObservationIndex): number =>
  n === SETTLED
    ? eventNumber(reference, n, batches.get(reference)?.item.completedGeneration)
    : eventNumber(reference, n, debits.get(reference)?.entries[n]?.gen)

/** 13: an event has one id, a function of its debit and number. */
const hasOneId: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const number = numberOf(first, index)
    const id = `evt_${number}`
    for (const received of posts) {
      const { 'x-svc-event-id': named, 'webhook-id': webhookId } = headersOf(received)
      if (received.body.event_id !== id || named !== id || webhookId !== id) {
        report(key, `was told as ${received.body.event_id}, ${named}, ${webhookId}, and is ${id}`)
      }
      if (headersOf(received)['x-svc-event'] !== received.body.event)
        report(key, 'has another type')
    }
  }
}

/** 13: each POST has an id of its own, and is on record unless its worker was lost. */
const isRecorded: Check = (index, report) => {
  const { postsOf, deliveries, observations } = index
  for (const [key, posts] of postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const ids = posts.map(({ id }) => id)
    const shape = new RegExp(`^dlv_${numberOf(first, index)}_[0-9a-f]{16}$`)
    for (const id of ids) if (!shape.test(id)) report(key, `has an attempt named ${id}`)
    if (new Set(ids).size < ids.length) report(key, `was posted as ${ids}`)
    const onRecord = new Set(deliveries.get(key)?.attempts.map(({ id }) => id))
    for (const { id, post } of posts) {
      if (!onRecord.has(id) && isFinished(post, observations)) report(key, `has no record of ${id}`)
    }
  }
  for (const [key, { item, attempts }] of deliveries) {
    // A worker may be lost after it has put the last one aside: then that stands in both places.
    const [ids, places] = [new Set<string>(), new Set<string>()]
    for (const { id, number } of attempts) [ids.add(id), places.add(`${number} ${id}`)]
    if (ids.size === item.attemptCount && places.size === ids.size) continue
    report(key, `counts ${item.attemptCount} attempts, and has ${[...ids]} on record`)
  }
}

export const eventIdsAreStable = allOf(hasOneId, isRecorded)

/** 14: the numbers of its events are those of its history, in the feed and in what is owed. */
const hasNoHoles: Check = (index, report) => {
  const { debits, batches, feeds, deliveries } = index
  const owed = new Set<string>()
  const happened = (key: string, provider: string): void => {
    owed.add(key)
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
    for (const key of feed) if (!owed.has(key)) report(key, `is in the feed of ${provider}`)
  }
  for (const [key, { item }] of deliveries) {
    if (!owed.has(key)) report(key, 'is owed, and never happened')
    const entry = debits.get(item.reference)?.entries[item.n]
    if (!entry) continue
    const isOf = item.event === entry.type && Date.parse(item.occurredAt) === entry.writtenAt
    if (!isOf) report(key, `is owed as ${item.event} of ${item.occurredAt}`)
  }
}

/** 14: what is told is the state at the event, and the same bytes each time. */
const tellsTheStateThen: Check = (index, report) => {
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) {
      for (const { body } of posts) checkPing(body, report)
      continue
    }
    if (posts.some(({ post }) => post.raw !== first.post.raw)) report(key, 'was told in two ways')
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
      report(key, 'was told, and never happened')
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
    if (wrong) report(key, `was told with another ${wrong}`)
  } else {
    const batch = batches.get(reference)?.item
    if (batch?.status !== 'completed') {
      report(key, 'was told, and never happened')
      return
    }
    const { settlement, ...envelope } = settledEventOf(batch)
    const wrong = differing(body, envelope) ?? differing(subject, settlement)
    if (wrong) report(key, `was told with another ${wrong}`)
  }
}

const checkPing = (body: Members, report: Reporter): void => {
  if (body.event !== 'ping') report(String(body.event_id), 'is about nothing')
}

export const eventsMatchHistory = allOf(hasNoHoles, tellsTheStateThen)
