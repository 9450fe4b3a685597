import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { BatchId, Day } from '../domain/settlement/batch.ts'
import { type Key, keys } from './keys.ts'
import { conditionMet, queryAll, queryPages, table, tableName } from './table.ts'

/**
 * The index `work`: items that somebody must look at once they are due, because a message or a
 * timer for them may have been lost. Whatever goes well leaves it, or is due later, by itself.
 */

/** More than one, so that no single key of the index takes all writes. */
const SHARDS = 8
export const shards: readonly number[] = Array.from({ length: SHARDS }, (_, n) => n)

/** Nothing is overdue before it has had this long to happen by itself. */
export const SWEEP_GRACE_SECONDS = 120

const shardOf = (text: string): number => text.charCodeAt(text.length - 1) % SHARDS

const later = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000)

/** The attributes that have the sweep look at an item if nothing became of it in time. */
export const dueAttributes = (owner: string, expectedAt: Date) => ({
  work: keys.watch(shardOf(owner)),
  due: later(expectedAt, SWEEP_GRACE_SECONDS).toISOString(),
})

/** An item to be looked at, what it is, and when it was said to be due. */
export type WorkItem = { key: Key; due: string; about: About }

type About =
  | { kind: 'debit'; reference: Reference }
  | { kind: 'delivery'; reference: Reference; n: number }
  | { kind: 'recovery'; provider: ProviderId; id: string }
  | { kind: 'batch'; id: BatchId }
  | { kind: 'build'; provider: ProviderId; date: Day }
  | { kind: 'refund'; reference: Reference }

const parseKey = ({ pk, sk }: Key): About => {
  const [, owner = ''] = pk.split('#')
  const [kind, id = ''] = sk.split('#')
  switch (kind) {
    case 'DEBIT':
      return { kind: 'debit', reference: owner as Reference }
    case 'DELIVERY':
      return { kind: 'delivery', reference: owner as Reference, n: Number(id) }
    case 'RECOVERY':
      return { kind: 'recovery', provider: owner as ProviderId, id }
    case 'REFUND':
      return { kind: 'refund', reference: owner as Reference }
    case 'BATCH':
      return { kind: 'batch', id: owner as BatchId }
    case 'BUILD':
      return { kind: 'build', provider: owner as ProviderId, date: id as Day }
    default:
      throw new Error(`Unknown kind of work item: ${kind}`)
  }
}

/** What is due in one shard, the longest overdue first. */
export const listDue = async (shard: number, now: Date, limit: number): Promise<WorkItem[]> => {
  const found = await queryAll({
    IndexName: 'work',
    KeyConditionExpression: '#work = :shard AND due <= :now',
    ExpressionAttributeNames: { '#work': 'work' },
    ExpressionAttributeValues: { ':shard': keys.watch(shard), ':now': now.toISOString() },
    Limit: limit,
  })
  return found.map((item) => {
    const key = { pk: String(item.pk), sk: String(item.sk) }
    return { key, due: String(item.due), about: parseKey(key) }
  })
}

/**
 * Has an item looked at again later, or never again, if nobody else has changed that meanwhile.
 * @param due undefined: nothing more can be missing
 */
export const reschedule = async (watched: WorkItem, due: Date | undefined): Promise<boolean> =>
  conditionMet(
    table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: watched.key,
        UpdateExpression: due ? 'SET due = :next' : 'REMOVE #work, due',
        ConditionExpression: 'due = :due',
        ...(due ? {} : { ExpressionAttributeNames: { '#work': 'work' } }),
        ExpressionAttributeValues: {
          ':due': watched.due,
          ...(due ? { ':next': due.toISOString() } : {}),
        },
      }),
    ),
  )

/**
 * Debits of a provider that wait for settlement, by when they were completed or reversed, page by
 * page. What leaves the index meanwhile disturbs nothing.
 */
export async function* unsettledPages(
  provider: ProviderId,
  { from, before, pageSize }: { from: Date; before: Date; pageSize: number },
): AsyncGenerator<Reference[]> {
  if (before <= from) return
  const pages = queryPages({
    IndexName: 'work',
    KeyConditionExpression: '#work = :provider AND due BETWEEN :from AND :last',
    ExpressionAttributeNames: { '#work': 'work' },
    ExpressionAttributeValues: {
      ':provider': keys.unsettled(provider),
      ':from': from.toISOString(),
      ':last': new Date(before.getTime() - 1).toISOString(),
    },
    Limit: pageSize,
  })
  for await (const page of pages) {
    yield page.flatMap(({ pk, sk }) => {
      const about = parseKey({ pk: String(pk), sk: String(sk) })
      return about.kind === 'debit' ? [about.reference] : []
    })
  }
}
