import type { Reference } from '../../domain/ids.ts'
import { type Count, REACH } from '../../domain/page.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS, iso } from '../../domain/time.ts'
import type { Attempt } from '../../domain/webhooks/attempt.ts'
import type { Delivery } from '../../domain/webhooks/delivery.ts'
import { isChargeEvent } from '../../domain/webhooks/event.ts'
import { readDebit, rethrow, type Unreadable } from '../debits/debits.ts'
import { countEntries } from '../index-lists.ts'
import type { KeySpan } from '../key-span.ts'
import { type Key, keys } from '../keys.ts'
import { recordExpiry } from '../retention.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { dueAttributes } from '../work-index.ts'
import type { ListedEvent } from './feed.ts'
import { excludeFromReceipt, fromReceiptItem, isReceipt } from './receipts.ts'

const TIMES = { occurredAt: true, nextAttemptAt: true, deliveredAt: true, failedAt: true } as const

const fromAttempt = (attempt: object): Attempt =>
  fromStored<Attempt>(attempt, { at: true, sentAt: true })

export const fromDeliveryItem = (item: db.Item): Delivery => {
  const { expiresAt, ...members } = db.withoutKeys<db.Item>(item)
  const delivery = fromStored<Delivery>(members, TIMES)
  return { ...delivery, last: delivery.last && fromAttempt(delivery.last) }
}

const toDeliveryItem = (delivery: Delivery) => {
  const key = keys.delivery(delivery.reference, delivery.n)
  return {
    ...key,
    entity: 'delivery',
    ...(!delivery.deliveredAt && undelivered(delivery)),
    // The sweep repeats the message of a lost attempt.
    ...(delivery.nextAttemptAt && dueAttributes(key, delivery.nextAttemptAt)),
    ...toStored(delivery),
    last: delivery.last && toStored(delivery.last),
    ...recordExpiry(delivery.occurredAt),
  }
}

/** Lists undelivered events only, so that an ordinary delivery costs no write in an index. */
const undelivered = ({ provider, occurredAt, reference, n }: Delivery) => ({
  byStatus: keys.undelivered(provider),
  byTime: `${keys.byTime(occurredAt, reference)}#${n}`,
})

/** Returns the deliveries in items, in the order of their events; a record precedes a receipt. */
export const deliveriesIn = (items: readonly db.Item[]): Delivery[] => {
  const receipts = items.filter(isReceipt).flatMap(fromReceiptItem)
  const records = items.filter((item) => !isReceipt(item)).map(fromDeliveryItem)
  const all = [...receipts, ...records].map((one) => [`${one.reference}#${one.n}`, one] as const)
  return [...new Map(all).values()].sort((a, b) => a.n - b.n)
}

/** Lists the deliveries of a debit or batch in the order of its events. */
export const listDeliveries = async (reference: Reference): Promise<Delivery[]> =>
  deliveriesIn(await db.readCollection(keys.deliveries(reference)))

export const findDelivery = async (reference: Reference, n: number) =>
  (await listDeliveries(reference)).find((delivery) => delivery.n === n)

/** The sort keys of a debit and of its deliveries are neighbours: the query reads no attempts. */
const followUpQuery = (reference: Reference) =>
  db.itemsQuery(keys.debit(reference).pk, 'sk BETWEEN :first AND :last', {
    ':first': keys.debit(reference).sk,
    ':last': keys.delivery(reference, 99).sk,
  })

type FollowUpRead = { isConsistent?: boolean; unreadable?: Unreadable }

/**
 * Reads a debit and its deliveries in one query, by default strongly consistent.
 * @param unreadable handles items that cannot be parsed; the debit is then undefined
 */
export const findWithDeliveries = async (
  reference: Reference,
  { isConsistent: ConsistentRead = true, unreadable = rethrow }: FollowUpRead = {},
) => {
  const items = await db.queryAll({ ...followUpQuery(reference), ConsistentRead })
  try {
    return parseFollowUp(reference, items)
  } catch (error) {
    unreadable(reference, error as Error)
    return { debit: undefined, deliveries: [] }
  }
}

const parseFollowUp = (reference: Reference, items: readonly db.Item[]) => {
  const isDebit = ({ sk }: db.Item) => sk === keys.debit(reference).sk
  const debit = items.find(isDebit)
  return {
    debit: debit && readDebit(debit),
    deliveries: deliveriesIn(items.filter((item) => !isDebit(item))),
  }
}

type EventNumber = Pick<Delivery, 'reference' | 'n'>

/** Returns the keys of the items that can have the delivery of an event. */
const deliveryKeys = ({ reference, n }: EventNumber): Key[] => [
  keys.delivery(reference, n),
  ...(isChargeEvent(n) ? [keys.receipt(reference)] : []),
]

/** Reads the existing deliveries of many events. */
export const findDeliveries = async (events: readonly EventNumber[]): Promise<Delivery[]> => {
  const found = deliveriesIn(await db.readMany(events.flatMap(deliveryKeys)))
  const wanted = new Set(events.map(({ reference, n }) => `${reference}#${n}`))
  return found.filter(({ reference, n }) => wanted.has(`${reference}#${n}`))
}

/** Attempts before the last one expire: their responses are text of third parties. */
const ATTEMPT_SECONDS = 30 * DAY_SECONDS

/** Lists the newest stored attempts, oldest first. The record has the last one, which wins. */
export const listAttempts = async (delivery: Delivery, limit: number): Promise<Attempt[]> => {
  const { reference, n, last } = delivery
  if (!last) return []
  if (last.number === 1) return [last]
  const newest = await db.queryAll({
    ...db.collectionQuery(keys.attempts(reference, n)),
    ScanIndexForward: false,
    Limit: limit,
  })
  const earlier = newest
    .map((item) => fromAttempt(db.withoutKeys<{ attempt: object }>(item).attempt))
    .filter(({ number }) => number !== last.number)
    .reverse()
  return [...earlier, last].slice(-limit)
}

/** Reads one attempt by its number, unless it has expired. */
export const findAttempt = async (
  { reference, n, attemptCount, last }: Delivery,
  number: number,
): Promise<Attempt | undefined> => {
  if (number > attemptCount) return undefined
  if (last?.number === number) return last
  const item = await db.read<{ attempt: object }>(keys.attempt(reference, n, number))
  return item && fromAttempt(item.attempt)
}

/**
 * Replaces a delivery if it is unchanged: two workers leave one record of an attempt, a redelivery is
 * not overwritten, and no repeated message exceeds the last attempt. It first stores the previous
 * attempt under its number.
 * @param previous undefined for a new delivery
 * @returns false when another worker was first
 */
export const replaceDelivery = async (previous: Delivery | undefined, next: Delivery) => {
  if (previous?.last && previous.last.number !== next.last?.number) {
    await putAttempt(previous, previous.last)
  }
  if (!previous && !(await excludeFromReceipt(next))) return false
  return db.putIf(toDeliveryItem(next), previous ? unchanged(previous, next) : db.isNew)
}

const unchanged = (previous: Delivery, next: Delivery) => {
  // An attempt beyond the maximum raises it in the same write.
  const isCapped = next.attemptsMax <= previous.attemptsMax
  // A delivery of the receipt has no record yet. Later, none is deleted before it expires.
  const isInReceipt = isChargeEvent(previous.n) ? 'attribute_not_exists(pk) OR ' : ''
  return {
    ConditionExpression:
      `${isInReceipt}attemptCount = :count AND #status = :status AND attemptsMax = :max` +
      ` AND nextAttemptAt = :next${isCapped ? ' AND attemptsMax >= :attempts' : ''}`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':count': previous.attemptCount,
      ':status': previous.status,
      ':max': previous.attemptsMax,
      ':next': iso(previous.nextAttemptAt),
      ...(isCapped && { ':attempts': next.attemptCount }),
    },
  }
}

const putAttempt = (delivery: Delivery, attempt: Attempt): Promise<void> =>
  db.put(keys.attempt(delivery.reference, delivery.n, attempt.number), 'attempt', {
    n: delivery.n,
    attempt: toStored(attempt),
    expiresAt: db.expiresAt(attempt.at, ATTEMPT_SECONDS),
  })

/** The position of an undelivered event in its provider's list. */
type UndeliveredPosition = { byTime: string; reference: Reference; n: number }

const positionOf = (item: db.Item): UndeliveredPosition => {
  const byTime = String(item.byTime)
  const [, reference = '', n = ''] = byTime.split('#')
  return { byTime, reference: reference as Reference, n: Number(n) }
}

type RecoverySpan = { since: Date; until: Date }

/** Includes the positions of this millisecond, which are longer. */
const endOf = (until: Date): string => `${until.toISOString()}~`

const undeliveredQuery = (provider: ProviderId, from: string, until: Date) =>
  db.statusQuery(keys.undelivered(provider), 'byTime BETWEEN :from AND :until', {
    ':from': from,
    ':until': endOf(until),
  })

/** Lists undelivered events, oldest first. The index may lag: the record decides. */
export const listUndelivered = async (
  provider: ProviderId,
  { since, until }: RecoverySpan,
  { after, limit }: { after: string | null; limit: number },
): Promise<UndeliveredPosition[]> => {
  // The next position is greater by at least one character.
  const from = after === null ? since.toISOString() : `${after} `
  const query = undeliveredQuery(provider, from, until)
  return (await db.queryAll({ ...query, Limit: limit })).map(positionOf)
}

export const countUndelivered = async (
  provider: ProviderId,
  { since, until }: RecoverySpan,
): Promise<Count> => {
  const span = { from: since.toISOString(), until: endOf(until) }
  const list = { index: 'by-status', key: keys.undelivered(provider), ...span } as const
  const { count, end } = await countEntries(list, REACH)
  return { count, isAtLeast: end !== undefined }
}

/** The undelivered events that one call of {@link undeliveredEvents} reads. */
const LISTED_AT_ONCE = 100

/** Lists undelivered events of a span, newest first. The index may lag: the record decides. */
export async function* undeliveredEvents(
  provider: ProviderId,
  span: KeySpan,
): AsyncGenerator<ListedEvent[]> {
  const query = db.spanQuery(keys.undelivered(provider), span)
  const pages = db.queryPages({ ...query, ScanIndexForward: false, Limit: LISTED_AT_ONCE })
  for await (const page of pages) {
    yield page.map(positionOf).map(({ byTime: key, ...entry }) => ({ key, entry }))
  }
}
