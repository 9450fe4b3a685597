import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Debit } from '../../domain/debits/debit.ts'
import type { Refund } from '../../domain/debits/refund.ts'
import type { Reference } from '../../domain/ids.ts'
import { fromIso, iso } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import {
  conditionMet,
  queryPages,
  read,
  readMany,
  table,
  tableName,
  type Write,
  withoutKeys,
} from '../table.ts'
import { transact, withConflictRetries } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'

/** Refunds: one item per debit, next to it. */

type Times = 'createdAt' | 'processedAt' | 'completedAt' | 'failedAt'
type Index = 'work' | 'due' | 'byStatus' | 'byTime'
type Item = Omit<Refund, Times | 'failed'> &
  Record<Times, string | null> &
  Record<Index, unknown> & { failed: { uuid: Refund['uuid']; failedAt: string; failure: string }[] }

/** The sweep sends a refund again until the bank has given its final reply. */
const workOf = ({ reference, status, createdAt, processedAt }: Refund) =>
  status === 'pending' || status === 'processing'
    ? dueAttributes(reference, processedAt ?? createdAt)
    : {}

const itemOf = (refund: Refund) => ({
  ...keys.refund(refund.reference),
  entity: 'refund',
  ...workOf(refund),
  byStatus: keys.refunds(refund.status === 'completed' ? 'completed' : 'due'),
  byTime: keys.byTime(refund.completedAt ?? refund.createdAt, refund.reference),
  ...refund,
  createdAt: refund.createdAt.toISOString(),
  processedAt: iso(refund.processedAt),
  completedAt: iso(refund.completedAt),
  failedAt: iso(refund.failedAt),
  failed: refund.failed.map((one) => ({ ...one, failedAt: one.failedAt.toISOString() })),
})

export const fromRefundItem = (item: Record<string, unknown>): Refund => {
  const { work, due, byStatus, byTime, ...refund } = withoutKeys<Item>(item)
  return {
    ...refund,
    createdAt: new Date(refund.createdAt ?? 0),
    processedAt: fromIso(refund.processedAt),
    completedAt: fromIso(refund.completedAt),
    failedAt: fromIso(refund.failedAt),
    failed: refund.failed.map((one) => ({ ...one, failedAt: new Date(one.failedAt) })),
  }
}

export const findRefund = async (reference: Reference): Promise<Refund | undefined> => {
  const item = await read<Record<string, unknown>>(keys.refund(reference))
  return item && fromRefundItem(item)
}

/** The refunds of many debits, in no order. */
export const findRefunds = async (references: readonly Reference[]): Promise<Refund[]> =>
  (await readMany(references.map(keys.refund))).map(fromRefundItem)

/** Returns the refund of a debit; only reversed and failed debits can have one. */
export const findRefundOf = async ({ status, facts }: Debit): Promise<Refund | undefined> =>
  status === 'reversed' || status === 'failed' ? findRefund(facts.reference) : undefined

/** Returns the write that creates a refund, for the transaction of its cause. */
export const refundCreation = (refund: Refund): Write => ({
  Put: {
    TableName: tableName(),
    Item: itemOf(refund),
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** Returns the write that replaces a refund if it stands as it was read. */
export const refundReplacement = (before: Refund, after: Refund) => ({
  Put: {
    TableName: tableName(),
    Item: itemOf({ ...after, version: before.version + 1 }),
    ConditionExpression: '#version = :before',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':before': before.version },
  },
})

/**
 * Replaces a refund, with other writes in one transaction.
 * @returns undefined when another worker was first
 */
export const replaceRefund = async (
  before: Refund,
  after: Refund,
  runtime: Pick<Runtime, 'random' | 'pause'>,
  alongside: readonly Write[] = [],
): Promise<Refund | undefined> => {
  const write = refundReplacement(before, after)
  const isWritten =
    alongside.length === 0
      ? await conditionMet(
          withConflictRetries(runtime, () => table.send(new PutCommand(write.Put))),
        )
      : await transact([write, ...alongside], runtime)
  return isWritten ? { ...after, version: before.version + 1 } : undefined
}

/**
 * Refunds that are due by their creation, or completed ones by their completion, oldest first, page
 * by page. The index may be late.
 */
export async function* refundPages(
  list: 'due' | 'completed',
  { from, before }: { from: Date; before: Date },
): AsyncGenerator<Refund[]> {
  const pages = queryPages({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :list AND byTime BETWEEN :from AND :before',
    ExpressionAttributeValues: {
      ':list': keys.refunds(list),
      ':from': from.toISOString(),
      ':before': before.toISOString(),
    },
    Limit: 100,
  })
  for await (const page of pages) {
    const references = page.map(({ pk }) => String(pk).slice('DEBIT#'.length) as Reference)
    const items = await readMany(references.map(keys.refund))
    yield items.map(fromRefundItem)
  }
}
