import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { RunSetup } from '../engine/observations.ts'
import { isFinished, type ReceivedPost } from './item-histories.ts'
import type { ObservationIndex } from './observation-index.ts'
import { differing, eventOf, settledEventOf } from './payload.ts'
import { type Check, type Checks, eachDelivery, eachEvent } from './rules.ts'
import type { Secret } from './setting-timeline.ts'
import { DAY_MS, eventNumber, inGhs, MINUTE_MS, SETTLED } from './time-and-money.ts'

/** Events: their ids, their contents, and the posts that publish them. */

const numberOf = ({ reference, n }: ReceivedPost, { debits, batches }: ObservationIndex): number =>
  n === SETTLED
    ? eventNumber(reference, n, batches.get(reference)?.item.completedGeneration)
    : eventNumber(reference, n, debits.get(reference)?.entries[n]?.gen)

/** Connecting takes a part of the attempt. */
const CONNECTING_MS = 30_000

/**
 * An event has one id, derived from its debit and number. Each POST has its own id, and is
 * recorded unless its invocation crashed.
 */
const eventIdsAreStable: Check = (index, report) => {
  const { skew } = index.setup
  for (const [key, posts] of index.postsOf) {
    const [first] = posts
    if (!first?.about) continue
    const number = numberOf(first, index)
    const event = `evt_${number}`
    const shape = new RegExp(`^dlv_${number}_[0-9a-f]{16}$`)
    const recorded = new Map(index.deliveries.get(key)?.attempts.map((one) => [one.id, one]))
    for (const { id, post, body } of posts) {
      const { 'x-svc-event-id': named, 'webhook-id': webhookId, 'x-svc-event': type } = post.headers
      const ids = [body.event_id, named, webhookId]
      if (ids.some((one) => one !== event)) report(key, `has the ids ${ids}, not ${event}`)
      if (type !== body.event) report(key, 'has another type')
      if (!shape.test(id)) report(key, `has an attempt named ${id}`)
      const attempt = recorded.get(id)
      if (!attempt && isFinished(post, index.observations)) report(key, `has no record of ${id}`)
      if (!attempt) continue
      const before = post.at - Date.parse(attempt.at)
      const isSame =
        attempt.sentAs === type &&
        (!post.responseReceived || attempt.responseCode === post.code) &&
        before >= -skew &&
        before <= CONNECTING_MS + skew
      if (!isSame) report(key, `has another request than the record ${id}`)
    }
    const ids = posts.map(({ id }) => id)
    if (new Set(ids).size < ids.length) report(key, `has repeated attempt ids: ${ids}`)
  }
}

const attemptsAreRecorded = eachDelivery(({ item, attempts }) => {
  // After a crash, the last attempt may be stored in both places.
  const ids = new Set(attempts.map(({ id }) => id))
  const places = new Set(attempts.map(({ id, number }) => `${number} ${id}`))
  const numbers = new Set(attempts.map(({ number }) => number))
  const counts = [ids.size, places.size, numbers.size, Math.max(0, ...numbers)]
  const isRight = counts.every((count) => count === item.attemptCount)
  return !isRight && `counts ${item.attemptCount} attempts, but records ${[...ids]}`
})

/** Also after a restore: receivers deduplicate by the id, and order a debit's events by their sequence. */
const eventIdsNameOneEvent: Check = ({ posts }, report) => {
  const events = new Map<string, string>()
  for (const { post, about, reference, body } of posts) {
    if (body.event === 'transaction.created' && body.sequence !== 0)
      report(reference, `was created with the sequence ${body.sequence}`)
    const id = String(post.headers['x-svc-event-id'])
    const names = { [id]: `${body.event} ${reference}` }
    if (about === 'transaction') names[`${reference}, sequence ${body.sequence}`] = id
    for (const [name, event] of Object.entries(names)) {
      const known = events.get(name) ?? event
      events.set(name, known)
      if (known !== event) report(reference, `${name} names ${known} and ${event}`)
    }
  }
}

/** The sweep repairs no older events: they would reach their provider as news. */
const NEWS_MS = 3 * DAY_MS

export const isNews = (writtenAt: number, { healedAt }: RunSetup): boolean =>
  healedAt - writtenAt < NEWS_MS

/** After a restore, an earlier entry can be of a lost event of the same number: readers have passed it. */
const eventsAreInFeeds = eachEvent(
  ({ key, provider, writtenAt, committedAt }, { feeds, setup }) => {
    const appendedAt = feeds.get(provider)?.get(key) ?? Number.NEGATIVE_INFINITY
    const isMissing = isNews(writtenAt, setup) && appendedAt < committedAt
    return isMissing && `is not in the feed of ${provider} since it happened`
  },
)

/** The next page of a feed continues the number of the newest one. */
const newestPagesStay: Check = ({ observations }, report) => {
  const pages = observations.items.filter(({ entity }) => entity === 'feed-page')
  for (const [feed, own] of Map.groupBy(pages, ({ pk }) => pk)) {
    const newest = own.toSorted((one, other) => one.sk.localeCompare(other.sk)).at(-1)
    if (newest?.expiresAt !== undefined) report(feed, 'has a newest page that expires')
  }
}

const publishedEventsHappened: Check = ({ events, feeds, deliveries }, report) => {
  for (const [provider, feed] of feeds) {
    for (const key of feed.keys())
      if (!events.has(key)) report(key, `is in the feed of ${provider}, but never happened`)
  }
  for (const [key, { item }] of deliveries) {
    const event = events.get(key)
    const isOf = item.event === event?.type && Date.parse(item.occurredAt) === event?.writtenAt
    if (!event) report(key, 'has a delivery, but never happened')
    else if (!isOf) report(key, `has a delivery of ${item.event} at ${item.occurredAt}`)
  }
}

/** A payload shows the state at its event, with equal bytes in each attempt. */
const payloadsShowTheirState: Check = ({ postsOf, events, debits, batches }, report) => {
  for (const [key, posts] of postsOf) {
    const [first] = posts
    const other = posts.find(({ body }) => body.event !== 'ping')
    if (!first?.about && other) report(String(other.body.event_id), 'has no subject')
    if (!first?.about) continue
    const { reference, n, body } = first
    if (posts.some(({ post }) => post.raw !== first.post.raw))
      report(key, 'was published with different bytes')
    if (!events.has(key)) report(key, 'was published, but never happened')
    const debit = debits.get(reference)
    const batch = batches.get(reference)?.item
    const expected = debit ? eventOf(debit, n) : batch && settledEventOf(batch)
    const wrong = events.has(key) && expected && differing(body, expected)
    if (wrong) report(key, `was published with another ${wrong}`)
  }
}

const SECRET_PREFIX = 'whsec_'

type Keys = { whole: KeyObject; decoded: KeyObject }

/** Key objects are several times faster than bytes. */
const known = new Map<string, Keys>()

const keysOf = (secret: string): Keys => {
  const keys = known.get(secret) ?? {
    whole: createSecretKey(Buffer.from(secret)),
    decoded: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  }
  known.set(secret, keys)
  return keys
}

/** Reports whether JSON has no white space outside of its texts. */
const isMinified = (raw: string): boolean => !/\s/.test(raw.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))

const FRESH_MS = MINUTE_MS

/** Both signatures cover the exact bytes, with the secret of the receiver's provider. */
const postsAreSigned: Check = ({ posts, timeline, startOf, setup }, report) => {
  const minified = new Map<string, boolean>()
  for (const received of posts) {
    const { post, receiver } = received
    const about = received.reference || post.url
    const id = post.headers['x-svc-delivery-id'] ?? 'a post without an id'
    const from = startOf(post.by, post.at)
    const secrets = timeline.during('webhookSecret', receiver?.id ?? '', from, post.at)
    const wrong = secrets.map((secret) => secret && wrongIn(received, secret, setup.skew))
    if (wrong.every(Boolean)) report(about, `${id} has a wrong ${wrong}`)
    const isKnown = minified.get(post.raw) ?? isMinified(post.raw)
    minified.set(post.raw, isKnown)
    if (!isKnown) report(about, `${id} is not minified`)
  }
}

const wrongIn = (
  { post: { headers, raw, at } }: ReceivedPost,
  { current, previous, until }: Secret,
  skew: number,
): string | undefined => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'x-svc-timestamp': stamp } = headers
  const standard = headers['webhook-signature']?.split(' ') ?? []
  const signed = [headers['x-svc-signature'], headers['x-svc-signature-previous']]
  for (const [n, secret] of [current, previous].entries()) {
    // A secret that no reply has shown cannot be checked.
    if (secret === undefined) continue
    const isAbsent = signed[n] === undefined
    const mayBeOver = n === 1 && at + skew + FRESH_MS > until
    const mustBeOver = n === 1 && at - skew - FRESH_MS >= until
    if (isAbsent ? !mayBeOver : mustBeOver) return `overlap of secrets at ${n}`
    if (isAbsent) continue
    const keys = keysOf(secret)
    const signature = createHmac('sha256', keys.whole).update(raw, 'utf8').digest('hex')
    if (signed[n] !== signature) return 'signature'
    const own = createHmac('sha256', keys.decoded)
      // In two parts, to avoid copying the long body.
      .update(`${id}.${time}.`, 'utf8')
      .update(raw, 'utf8')
      .digest('base64')
    if (standard[n] !== `v1,${own}`) return 'standard signature'
  }
  const isNow = Math.abs(Number(stamp) * 1000 - at) <= FRESH_MS + skew
  return /^[0-9]{10}$/.test(stamp ?? '') && stamp === time && isNow ? undefined : 'timestamp'
}

const postsReachOwner: Check = ({ posts, debits, batches }, report) => {
  for (const { post, receiver, about, reference } of posts) {
    if (!receiver) report(post.url, 'is not a receiver')
    const owner = (debits.get(reference) ?? batches.get(reference))?.item.provider
    if (about && owner !== receiver?.id)
      report(reference, `belongs to ${owner}, but reached ${receiver?.id}`)
  }
}

/** A published amount: text, a number, or null if unknown. */
const PUBLISHED = /(?<!\\)"(?:amount|fee|gross|net|adjustments|paid|total_amount)":([^,}\]]*)/g
const DECIMAL = /^(?:null|"-?(?:0|[1-9][0-9]*)\.[0-9]{2}"|-?(?:0|[1-9][0-9]*)\.[0-9]{2})$/

const badIn = (text: string): string | undefined =>
  text
    .matchAll(PUBLISHED)
    .map(([, amount = '']) => amount)
    .find((amount) => !DECIMAL.test(amount))

/** Checks the exact bytes of posts before the metadata, which belongs to the provider. */
const publishedAmountsAreExact: Check = ({ posts, debits, observations }, report) => {
  const bodies = new Map(posts.map((received) => [received.post.raw, received]))
  for (const [raw, { about, reference }] of bodies) {
    const own = raw.split('"previous_status":')[0] ?? ''
    const bad = badIn(own)
    if (bad !== undefined) report(reference, `has the amount ${bad}`)
    const debit = about === 'transaction' && debits.get(reference)
    if (debit && !own.includes(`"amount":${inGhs(debit.item.amount)},`))
      report(reference, `was published without the amount ${inGhs(debit.item.amount)}`)
  }
  for (const { name, reply } of observations.calls) {
    const bad = reply && reply.status < 300 ? badIn(reply.raw ?? '') : undefined
    if (bad !== undefined) report(name, `has the amount ${bad}`)
  }
}

export const checks: Checks = {
  13: [eventIdsAreStable, attemptsAreRecorded],
  14: [eventsAreInFeeds, newestPagesStay, publishedEventsHappened, payloadsShowTheirState],
  18: [postsAreSigned],
  19: [postsReachOwner],
  30: [publishedAmountsAreExact],
  50: [eventIdsNameOneEvent],
}
