import { hash } from 'node:crypto'
import type { BatchId, Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Day, END_OF_TIME, secondsAfter } from '../domain/time.ts'
import { type Key, keys } from './keys.ts'
import { mergeSorted } from './merge-sorted.ts'
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

/** The longest time between two queries about a payout or refund in progress. */
const REPEAT_SECONDS_MAX = 6 * 3_600

/** Doubles the interval after each repeat, so that repeats do not flood a busy queue. */
export const doubled = (since: Date, now: Date): Date => {
  const elapsed = (now.getTime() - since.getTime()) / 1000
  return secondsAfter(now, Math.min(Math.max(SWEEP_GRACE_SECONDS, elapsed), REPEAT_SECONDS_MAX))
}

/** Distributes owners evenly, over at most 65,536 parts. */
export const spread = (owner: string, parts: number): number =>
  Number.parseInt(hash('sha256', owner).slice(0, 4), 16) % parts

/** The items that the sweep checks, by the first part of their sort keys: their subjects. */
const subjects = {
  DEBIT: (owner: string) => ({ kind: 'debit', reference: owner as Reference }) as const,
  DELIVERY: (owner: string, n: string) =>
    ({ kind: 'delivery', reference: owner as Reference, n: Number(n) }) as const,
  RECOVERY: (owner: string, id: string) =>
    ({ kind: 'recovery', provider: owner as ProviderId, id }) as const,
  LATER: () => ({ kind: 'erasure' }) as const,
  REFUND: (owner: string) => ({ kind: 'refund', reference: owner as Reference }) as const,
  BATCH: (owner: string) => ({ kind: 'batch', id: owner as BatchId }) as const,
  BUILD: (owner: string, date: string) =>
    ({ kind: 'build', provider: owner as ProviderId, date: date as Day }) as const,
  /** A run of the reconciliation, and one of its parts. */
  RUN: (run: string) => ({ kind: 'reconciliation', run, part: undefined }) as const,
  PART: (run: string, part: string) => ({ kind: 'reconciliation', run, part }) as const,
}

type WorkName = keyof typeof subjects
type WorkKey = { pk: string; sk: WorkName | `${WorkName}#${string}` }
type WorkSubject = ReturnType<(typeof subjects)[WorkName]>

const afterFirst = (key: string): string => key.slice(key.indexOf('#') + 1)

/** Returns undefined for a kind that a later version has written. */
const parseKey = ({ pk, sk }: Key): WorkSubject | undefined => {
  const [name = ''] = sk.split('#')
  if (!Object.hasOwn(subjects, name)) return undefined
  return subjects[name as WorkName](afterFirst(pk), afterFirst(sk))
}

/**
 * Returns the attributes that make the sweep check an item at a time.
 * @param owner spreads items over the shards: by default, the one in the partition key
 */
export const dueAt = ({ pk }: WorkKey, due: Date, owner = afterFirst(pk)) => ({
  work: keys.workShard(spread(owner, SHARDS)),
  due: due.toISOString(),
})

/** Returns the attributes that make the sweep check an item if it makes no progress in time. */
export const dueAttributes = (key: WorkKey, expectedAt: Date, owner?: string) =>
  dueAt(key, secondsAfter(expectedAt, SWEEP_GRACE_SECONDS), owner)

export type WorkItem = { key: Key; due: string; about: WorkSubject | undefined }

export const workQuery = (list: string, condition: string, values: db.Item) => ({
  IndexName: 'work',
  KeyConditionExpression: `#work = :list AND ${condition}`,
  ExpressionAttributeNames: { '#work': 'work' },
  ExpressionAttributeValues: { ':list': list, ...values },
})

/** Lists the due items of one shard, the most overdue first. */
export const listDue = async (shard: number, now: Date, Limit?: number): Promise<WorkItem[]> => {
  const query = workQuery(keys.workShard(shard), 'due <= :now', { ':now': now.toISOString() })
  const items = await db.queryAll({ ...query, ...(Limit && { Limit }) })
  return items.map((item) => {
    const key = db.keyOf(item)
    return { key, due: String(item.due), about: parseKey(key) }
  })
}

/** Lists the batches that the sweep checks, now or later: those being built or paid, and some paid ones. */
export const listWatchedBatches = async (): Promise<BatchId[]> => {
  const items = await Promise.all(shards.map((shard) => listDue(shard, END_OF_TIME)))
  return items.flat().flatMap(({ about }) => (about?.kind === 'batch' ? about.id : []))
}

/** Changes or removes the due time. @returns false when another worker has changed it */
export const reschedule = (item: WorkItem, due: Date | undefined): Promise<boolean> =>
  setDue(item, due?.toISOString())

const setDue = (item: WorkItem, due: string | undefined): Promise<boolean> =>
  db.updateIf(item.key, {
    UpdateExpression: due ? 'SET due = :next' : 'REMOVE #work, due',
    ConditionExpression: 'due = :due',
    ...(!due && { ExpressionAttributeNames: { '#work': 'work' } }),
    ExpressionAttributeValues: { ':due': item.due, ...(due && { ':next': due }) },
  })

// The delays of an item whose check or timeout is repeated (docs/operations.md#the-sweep-is-behind).
const FAILED_SECONDS = 60
const FAILED_SECONDS_MAX = 3_600

/**
 * Delays an item whose check failed or whose timeout was sent, by a doubled delay after each one in a row,
 * so that such items do not fill the first page of every run. A fourth digit of the seconds of `due`
 * counts them: each other write of `due` resets it, and the index has no other attribute.
 * @param latest a time at which the item must be checked, however often it has failed
 */
export const postpone = (item: WorkItem, now: Date, latest?: Date): Promise<boolean> => {
  const failures = Number(/\.\d{3}(\d)Z$/.exec(item.due)?.[1] ?? 0)
  const delay = Math.min(FAILED_SECONDS * 2 ** failures, FAILED_SECONDS_MAX)
  const next = secondsAfter(now, delay)
  const due = latest && latest < next ? latest : next
  return setDue(item, due.toISOString().replace('Z', `${Math.min(failures + 1, 9)}Z`))
}

/**
 * Shards of the unsettled debits of a provider: settlement removes 5,000 a second from them, and a key of
 * an index takes 1,000 writes.
 */
const SETTLE_SHARDS = 8

/** Returns the attributes of a debit that waits for settlement. */
export const unsettledAttributes = (
  { provider, reference }: { provider: ProviderId; reference: Reference },
  at: Date,
) => ({ work: keys.unsettled(provider, spread(reference, SETTLE_SHARDS)), due: at.toISOString() })

/** A debit, and the time by which a list sorts it. */
export type TimedReference = { reference: Reference; at: Date }

/** @param pageSize the entries of one shard that a query reads */
type UnsettledSpan = { from: Date; before: Date; pageSize: number }

/** Lists the debits that wait for settlement with the times of completion or reversal, oldest first. */
export async function* unsettledEntries(
  provider: ProviderId,
  { from, before, pageSize }: UnsettledSpan,
): AsyncGenerator<TimedReference[]> {
  if (before <= from) return
  const shards = Array.from({ length: SETTLE_SHARDS }, (_, shard) =>
    db.queryPages({
      ...workQuery(keys.unsettled(provider, shard), 'due BETWEEN :from AND :last', {
        ':from': from.toISOString(),
        ':last': new Date(before.getTime() - 1).toISOString(),
      }),
      Limit: pageSize,
    }),
  )
  for await (const page of mergeSorted(shards, {
    keyOf: ({ due }) => String(due),
    ahead: pageSize,
  })) {
    yield page.flatMap((item) => {
      const about = parseKey(db.keyOf(item))
      return about?.kind === 'debit'
        ? [{ reference: about.reference, at: new Date(String(item.due)) }]
        : []
    })
  }
}

/** Lists the debits that wait for settlement, by the time of completion or reversal. */
export async function* unsettledPages(
  provider: ProviderId,
  span: UnsettledSpan,
): AsyncGenerator<Reference[]> {
  for await (const page of unsettledEntries(provider, span)) {
    yield page.map(({ reference }) => reference)
  }
}

/** Reports whether debits or reversals of an earlier time are in no batch. */
export const hasUnsettled = async (provider: ProviderId, before: Date): Promise<boolean> => {
  const span = { from: new Date(0), before, pageSize: 1 }
  for await (const references of unsettledPages(provider, span)) {
    if (references.length > 0) return true
  }
  return false
}
