import { createHmac } from 'node:crypto'
import type { Post } from './receiver.ts'
import type { Item } from './table.ts'
import type { World } from './world.ts'

/**
 * What is wrong with a world at rest, by the raw table and by what the receiver got, and not by
 * the code that wrote the one and sent the other.
 */

type Allowed = {
  /** How many posts may have no record, as a worker was lost between a post and its record. */
  repeats?: number
  /** Attempts were asked for, or taken up again: no delay parts them. */
  unparted?: boolean
  /** Nothing was lost, so nothing has waited for the sweep. */
  prompt?: boolean
  /** How deliveries may end. */
  ends?: readonly string[]
}

type Entry = { type: string; at: number }
type Attempt = { id: string; number: number; at: string; responseCode: number | null }

export const faultsOf = async (world: World, allowed: Allowed = {}): Promise<string[]> => {
  const items = await world.items()
  const { posts } = world.receiver
  const watched = items.filter(({ work }) => String(work).startsWith('WATCH#'))
  return [
    ...watched.map(({ pk, sk }) => `${pk} ${sk} is still watched`),
    ...world.queues.deadLetters.map(({ queue, body }) => `a dead letter of ${queue}: ${body}`),
    ...posts.flatMap((post) => faultsOfPost(post, world.webhook.secret)),
    ...items
      .filter(({ entity }) => entity === 'debit')
      .flatMap((debit) => faultsOfDebit(debit, { items, posts, allowed, world })),
  ]
}

/** Hazards, invariant 18. */
const faultsOfPost = ({ raw, headers }: Post, secret: string): string[] => {
  const signature = createHmac('sha256', secret).update(raw).digest('hex')
  const outsideStrings = raw.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
  return [
    ...(headers['x-svc-signature'] === signature ? [] : [`${raw} is not signed`]),
    ...(/\s/.test(outsideStrings) ? [`${raw} is not minified`] : []),
  ]
}

/** Entries leave out the instant that they share with the one before. */
const historyOf = ({ history }: Item): Entry[] => {
  let at = 0
  return (history as Partial<Entry>[]).map((entry) => {
    at = entry.at ?? at
    return { type: String(entry.type), at }
  })
}

type Around = { items: Item[]; posts: Post[]; allowed: Allowed; world: World }

const faultsOfDebit = (debit: Item, { items, posts, allowed, world }: Around): string[] => {
  const reference = String(debit.reference)
  const history = historyOf(debit)
  const own = items.filter(({ pk }) => pk === debit.pk)
  const feed = items.filter(({ pk }) => pk.startsWith('FEED#')).flatMap(({ entries }) => entries)
  const ofDebit = posts.filter(({ raw }) => bodyOf(raw).data.transaction.reference === reference)
  const isWanted = (type: string) =>
    world.webhook.events?.some((event) => event === `transaction.${type}`) ?? true
  const records = own.filter(({ entity }) => entity === 'delivery')
  return [
    ...history.flatMap((_, n) =>
      feed.includes(`${reference}#${n}`) ? [] : [`event ${n} of ${reference} is not in the feed`],
    ),
    ...history.flatMap((entry, n) => {
      const record = records.find((one) => one.n === n)
      if (!isWanted(entry.type)) return record ? [`event ${n} is unwanted`] : []
      const sent = ofDebit.filter(({ raw }) => bodyOf(raw).sequence === n)
      const before = own.filter((one) => one.entity === 'attempt' && one.n === n)
      return record
        ? [
            ...faultsOfBodies(sent, history, n),
            ...faultsOfRecord(record, sent, allowed),
            ...faultsOfAttempts(record, { before, sent, allowed }),
          ].map((fault) => `event ${n} of ${reference} ${fault}`)
        : [`event ${n} of ${reference} has no record`]
    }),
    ...ofDebit
      .filter(({ raw }) => bodyOf(raw).sequence >= history.length)
      .map(({ raw }) => `${raw} never happened`),
  ]
}

// biome-ignore lint/suspicious/noExplicitAny: a payload is looked into, member by member
const bodyOf = (raw: string): any => JSON.parse(raw)

/** Hazards, invariants 13 and 14: one event, told as it was when it happened. */
const faultsOfBodies = (sent: Post[], history: Entry[], n: number): string[] => {
  const entry = history[n]
  const told = {
    event: `transaction.${entry?.type}`,
    timestamp: new Date(entry?.at ?? 0).toISOString(),
    status: entry?.type,
    previous: history[n - 1]?.type ?? null,
  }
  return [
    ...(new Set(sent.map(({ raw }) => raw)).size > 1 ? ['was told in several ways'] : []),
    ...sent.flatMap(({ raw, headers }) => {
      const { event, event_id, timestamp, data } = bodyOf(raw)
      const { status } = data.transaction
      const is = { event, timestamp, status, previous: data.previous_status }
      const isNamed = headers['x-svc-event-id'] === event_id && headers['x-svc-event'] === event
      return [
        ...(JSON.stringify(is) === JSON.stringify(told) ? [] : [`was told as ${raw}`]),
        ...(isNamed ? [] : [`was sent as ${headers['x-svc-event-id']}`]),
      ]
    }),
  ]
}

const isReceived = ({ code }: Post): boolean => code !== null && code >= 200 && code < 300

/** Hazards, invariant 15: each event ends, and nothing is said that did not happen. */
const faultsOfRecord = (
  record: Item,
  sent: Post[],
  { ends = ['delivered'] }: Allowed,
): string[] => {
  const { status, attemptCount, attemptsMax, deliveredAt, failedAt, reason } = record
  const first = sent.find(isReceived)
  const isDelivered = status === 'delivered'
  return [
    ...(ends.includes(String(status)) ? [] : [`is ${status}`]),
    ...(Number(attemptCount) > Number(attemptsMax) ? [`had ${attemptCount} attempts`] : []),
    ...(isDelivered && !first ? ['was never received'] : []),
    ...(!isDelivered && first ? ['was received, and nobody knows'] : []),
    ...(isDelivered && first && Date.parse(String(deliveredAt)) < first.at ? ['came early'] : []),
    ...(!isDelivered && !(failedAt && reason) ? ['ended without a reason'] : []),
  ]
}

type Attempts = { before: Item[]; sent: Post[]; allowed: Allowed }

/** Hazards, invariants 13 and 16: an id and a record for each attempt, and growing delays. */
const faultsOfAttempts = (record: Item, { before, sent, allowed }: Attempts): string[] => {
  const attempts = [...before.map(({ attempt }) => attempt as Attempt), record.last as Attempt]
    .filter(Boolean)
    .toSorted((a, b) => a.number - b.number)
  const ids = sent.map(({ headers }) => String(headers['x-svc-delivery-id']))
  const isWhole = attempts.length === record.attemptCount
  const known = new Set(attempts.map(({ id }) => id))
  const lost = ids.filter((id) => !known.has(id))
  const unheard = attempts.filter(
    ({ id, responseCode }) => responseCode !== null && !ids.includes(id),
  )
  return [
    ...(isWhole ? [] : [`has ${attempts.length} of ${record.attemptCount} attempts on record`]),
    // A worker that is lost between a POST and its record makes another attempt.
    ...(lost.length > (allowed.repeats ?? 0) ? [`has no record of ${lost}`] : []),
    ...unheard.map(({ number }) => `has attempt ${number} on record, which nobody saw`),
    ...(new Set(ids).size < ids.length ? [`was posted as ${ids}`] : []),
    ...(allowed.unparted
      ? []
      : attempts.slice(1).flatMap(({ at }, place) => {
          const k = place + 1
          const seconds = (Date.parse(at) - Date.parse(attempts[place]?.at ?? '')) / 1000
          const [least, most] = [Math.min(2 ** k, 300), Math.min(1.1 * 2 ** k + 1, 300)]
          const isParted = seconds >= least && (!allowed.prompt || seconds <= most)
          return isParted ? [] : [`had attempt ${k + 1} after ${seconds} s`]
        })),
  ]
}
