import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Reference } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS, fromIso, iso } from '../../domain/time.ts'
import type { Attempt } from '../../domain/webhooks/attempt.ts'
import type { Delivery } from '../../domain/webhooks/delivery.ts'
import { keys } from '../keys.ts'
import {
  collectionQuery,
  conditionMet,
  expiresAt,
  put,
  queryAll,
  read,
  readCollection,
  readMany,
  table,
  tableName,
  withoutKeys,
} from '../table.ts'
import { dueAttributes } from '../work-index.ts'

type Written<T> = {
  [K in keyof T]: T[K] extends Date
    ? string
    : T[K] extends Date | null
      ? string | null
      : T[K] extends Attempt | null
        ? Written<Attempt> | null
        : T[K]
}

const fromAttempt = (attempt: Written<Attempt>): Attempt => ({
  ...attempt,
  at: new Date(attempt.at),
})

const toAttempt = (attempt: Attempt): Written<Attempt> => ({
  ...attempt,
  at: attempt.at.toISOString(),
})

export const fromDeliveryItem = (item: Record<string, unknown>): Delivery => {
  const { work, due, byStatus, byTime, ...delivery } = withoutKeys<
    Written<Delivery> & Record<'work' | 'due' | 'byStatus' | 'byTime', unknown>
  >(item)
  return {
    ...delivery,
    occurredAt: new Date(delivery.occurredAt),
    last: delivery.last && fromAttempt(delivery.last),
    nextAttemptAt: fromIso(delivery.nextAttemptAt),
    deliveredAt: fromIso(delivery.deliveredAt),
    failedAt: fromIso(delivery.failedAt),
  }
}

const toDeliveryItem = (delivery: Delivery) => ({
  ...keys.delivery(delivery.reference, delivery.n),
  entity: 'delivery',
  ...delivery,
  ...(delivery.deliveredAt ? {} : undelivered(delivery)),
  // The sweep looks after an attempt whose message was lost.
  ...(delivery.nextAttemptAt ? dueAttributes(delivery.reference, delivery.nextAttemptAt) : {}),
  occurredAt: delivery.occurredAt.toISOString(),
  last: delivery.last && toAttempt(delivery.last),
  nextAttemptAt: iso(delivery.nextAttemptAt),
  deliveredAt: iso(delivery.deliveredAt),
  failedAt: iso(delivery.failedAt),
})

/** Only what was not received is listed, so an ordinary delivery costs no write in an index. */
const undelivered = ({ provider, occurredAt, reference, n }: Delivery) => ({
  byStatus: keys.undelivered(provider),
  byTime: `${keys.byTime(occurredAt, reference)}#${n}`,
})

export const findDelivery = async (
  reference: Reference,
  n: number,
): Promise<Delivery | undefined> => {
  const item = await read<Record<string, unknown>>(keys.delivery(reference, n))
  return item && fromDeliveryItem(item)
}

/** The deliveries of one debit, in the order of its events. */
export const listDeliveries = async (reference: Reference): Promise<Delivery[]> => {
  const { pk, prefix } = keys.deliveries(reference)
  return (await readCollection(pk, prefix)).map(fromDeliveryItem)
}

/** Those of many events that there are, in no order. */
export const findDeliveries = async (
  events: readonly { reference: Reference; n: number }[],
): Promise<Delivery[]> =>
  (await readMany(events.map(({ reference, n }) => keys.delivery(reference, n)))).map(
    fromDeliveryItem,
  )

/** How long an attempt is remembered that was followed by another one: its answer is a stranger's text. */
const ATTEMPT_SECONDS = 30 * DAY_SECONDS

/**
 * The newest attempts of a delivery, oldest first, as far as they are kept. The last one is in the
 * record itself, and wins where a write was cut off between the two.
 */
export const listAttempts = async (delivery: Delivery, limit: number): Promise<Attempt[]> => {
  const { reference, n, last } = delivery
  if (!last) return []
  if (last.number === 1) return [last]
  const { pk, prefix } = keys.attempts(reference, n)
  const newest = await queryAll({
    ...collectionQuery(pk, prefix),
    ScanIndexForward: false,
    Limit: limit,
  })
  const earlier = newest
    .map((item) => fromAttempt(withoutKeys<{ attempt: Written<Attempt> }>(item).attempt))
    .filter(({ number }) => number !== last.number)
    .reverse()
  return [...earlier, last].slice(-limit)
}

/** One attempt by its number, as far as it is kept. */
export const findAttempt = async (
  { reference, n, attemptCount, last }: Delivery,
  number: number,
): Promise<Attempt | undefined> => {
  if (number > attemptCount) return undefined
  if (last?.number === number) return last
  const item = await read<{ attempt: Written<Attempt> }>(keys.attempt(reference, n, number))
  return item && fromAttempt(item.attempt)
}

/**
 * Writes what became of a delivery, if it still stands as it was read: so two workers on one
 * attempt leave one record, a redelivery is not overwritten, and no message, however often
 * repeated, goes past the last attempt. Before a later attempt takes the place of the last one,
 * that is put aside, under its number.
 * @param before as it was read; undefined: there was none
 * @returns false when it stands otherwise by now
 */
export const replaceDelivery = async (
  before: Delivery | undefined,
  after: Delivery,
): Promise<boolean> => {
  if (before?.last && before.last.number !== after.last?.number) await putAside(before, before.last)
  return conditionMet(
    table.send(
      new PutCommand({
        TableName: tableName(),
        Item: toDeliveryItem(after),
        ...(before ? asRead(before, after) : { ConditionExpression: 'attribute_not_exists(pk)' }),
      }),
    ),
  )
}

const asRead = (before: Delivery, after: Delivery) => {
  // An attempt that goes past the last one raises their number in the same write.
  const isCapped = after.attemptsMax <= before.attemptsMax
  return {
    ConditionExpression:
      'attemptCount = :count AND #status = :status AND attemptsMax = :max AND nextAttemptAt = :next' +
      (isCapped ? ' AND attemptsMax >= :attempts' : ''),
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':count': before.attemptCount,
      ':status': before.status,
      ':max': before.attemptsMax,
      ':next': iso(before.nextAttemptAt),
      ...(isCapped ? { ':attempts': after.attemptCount } : {}),
    },
  }
}

const putAside = (delivery: Delivery, attempt: Attempt): Promise<void> =>
  put(keys.attempt(delivery.reference, delivery.n, attempt.number), 'attempt', {
    n: delivery.n,
    attempt: toAttempt(attempt),
    expiresAt: expiresAt(attempt.at, ATTEMPT_SECONDS),
  })

/** Where an undelivered event stands in its provider's list. */
export type UndeliveredPosition = { byTime: string; reference: Reference; n: number }

const positionOf = (item: Record<string, unknown>): UndeliveredPosition => {
  const byTime = String(item.byTime)
  const [, reference = '', n = ''] = byTime.split('#')
  return { byTime, reference: reference as Reference, n: Number(n) }
}

type Span = { since: Date; until: Date }

const inSpan = (provider: ProviderId, from: string, until: Date) => ({
  IndexName: 'by-status',
  KeyConditionExpression: 'byStatus = :list AND byTime BETWEEN :from AND :until',
  ExpressionAttributeValues: {
    ':list': keys.undelivered(provider),
    ':from': from,
    // Positions of that very millisecond begin with it and go on.
    ':until': `${until.toISOString()}~`,
  },
})

/**
 * Events of a provider that were never received, oldest first. From an index, so a little late;
 * the record itself decides.
 * @param after what follows this position; null: from the beginning of the span
 */
export const listUndelivered = async (
  provider: ProviderId,
  { since, until }: Span,
  { after, limit }: { after: string | null; limit: number },
): Promise<UndeliveredPosition[]> => {
  // The position itself is known: what comes after it is greater by a character at least.
  const from = after === null ? since.toISOString() : `${after} `
  return (await queryAll({ ...inSpan(provider, from, until), Limit: limit })).map(positionOf)
}

/** How many there are. */
export const countUndelivered = async (
  provider: ProviderId,
  { since, until }: Span,
): Promise<number> => (await queryAll(inSpan(provider, since.toISOString(), until))).length
