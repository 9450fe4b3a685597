import { hash } from 'node:crypto'
import type { BatchId, Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, secondsAfter } from '../domain/time.ts'
import { type Key, keys } from './keys.ts'
import * as db from './table.ts'

/**
 * The index `work`: items that the sweep checks when they are due, because their message or timer may
 * have been lost. Normal progress removes an item or delays its due time.
 */

/** Several shards, so that the writes do not all go to one key of the index. */
const SHARDS = 32
export const shards: readonly number[] = Array.from({ length: SHARDS }, (_, index) => index)

/** The delay before the sweep checks what should have happened. */
export const SWEEP_GRACE_SECONDS = 120

const shardOf = (owner: string): number =>
  Number.parseInt(hash('sha256', owner).slice(0, 2), 16) % SHARDS

/** Returns the attributes that make the sweep check an item at a time. */
export const dueAt = (owner: string, due: Date) => ({
  work: keys.workShard(shardOf(owner)),
  due: due.toISOString(),
})

/** Returns the attributes that make the sweep check an item if it makes no progress in time. */
export const dueAttributes = (owner: string, expectedAt: Date) =>
  dueAt(owner, secondsAfter(expectedAt, SWEEP_GRACE_SECONDS))

export type WorkItem = { key: Key; due: string; about: WorkSubject }

type WorkSubject =
  | { kind: 'debit'; reference: Reference }
  | { kind: 'delivery'; reference: Reference; n: number }
  | { kind: 'recovery'; provider: ProviderId; id: string }
  | { kind: 'batch'; id: BatchId }
  | { kind: 'build'; provider: ProviderId; date: Day }
  | { kind: 'refund'; reference: Reference }
  /** A run, or one of its parts. */
  | { kind: 'reconciliation'; run: string; part?: string }

const parseKey = ({ pk, sk }: Key): WorkSubject => {
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
    case 'RUN':
      return { kind: 'reconciliation', run: owner }
    case 'PART':
      return { kind: 'reconciliation', run: owner, part: sk.slice('PART#'.length) }
    default:
      throw new Error(`Unknown kind of work item: ${kind}`)
  }
}

export const workQuery = (list: string, condition: string, values: db.Item) => ({
  IndexName: 'work',
  KeyConditionExpression: `#work = :list AND ${condition}`,
  ExpressionAttributeNames: { '#work': 'work' },
  ExpressionAttributeValues: { ':list': list, ...values },
})

/** Lists the due items of one shard, the most overdue first. */
export const listDue = async (shard: number, now: Date, limit: number): Promise<WorkItem[]> => {
  const items = await db.queryAll({
    ...workQuery(keys.workShard(shard), 'due <= :now', { ':now': now.toISOString() }),
    Limit: limit,
  })
  return items.map((item) => {
    const key = db.keyOf(item)
    return { key, due: String(item.due), about: parseKey(key) }
  })
}

/** Changes or removes the due time. @returns false when another worker has changed it */
export const reschedule = (item: WorkItem, due: Date | undefined): Promise<boolean> =>
  db.updateIf(item.key, {
    UpdateExpression: due ? 'SET due = :next' : 'REMOVE #work, due',
    ConditionExpression: 'due = :due',
    ...(!due && { ExpressionAttributeNames: { '#work': 'work' } }),
    ExpressionAttributeValues: { ':due': item.due, ...(due && { ':next': due.toISOString() }) },
  })

/** A debit, and the time by which a list sorts it. */
export type TimedReference = { reference: Reference; at: Date }

/** Lists the debits that wait for settlement with the times of completion or reversal, oldest first. */
export async function* unsettledEntries(
  provider: ProviderId,
  { from, before }: { from: Date; before: Date },
  pageSize: number,
): AsyncGenerator<TimedReference[]> {
  if (before <= from) return
  const pages = db.queryPages({
    ...workQuery(keys.unsettled(provider), 'due BETWEEN :from AND :last', {
      ':from': from.toISOString(),
      ':last': new Date(before.getTime() - 1).toISOString(),
    }),
    Limit: pageSize,
  })
  for await (const page of pages) {
    yield page.flatMap((item) => {
      const about = parseKey(db.keyOf(item))
      return about.kind === 'debit'
        ? [{ reference: about.reference, at: new Date(String(item.due)) }]
        : []
    })
  }
}

/** Lists the debits that wait for settlement, by the time of completion or reversal. */
export async function* unsettledPages(
  provider: ProviderId,
  { pageSize, ...span }: { from: Date; before: Date; pageSize: number },
): AsyncGenerator<Reference[]> {
  for await (const page of unsettledEntries(provider, span, pageSize)) {
    yield page.map(({ reference }) => reference)
  }
}
