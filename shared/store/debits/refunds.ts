import type { Debit } from '../../domain/debits/debit.ts'
import type { Refund } from '../../domain/debits/refund.ts'
import type { Reference } from '../../domain/ids.ts'
import { fromIso, iso } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { putWith } from '../settings.ts'
import {
  type Item,
  queryPages,
  read,
  readMany,
  type Span,
  spanQuery,
  tableName,
  type Write,
  withoutKeys,
} from '../table.ts'
import { withConflictRetries } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'

/** Refunds (docs/api.md#refunds): one item per debit, in its partition. */

type Times = 'createdAt' | 'processedAt' | 'completedAt' | 'failedAt'
type Index = 'work' | 'due' | 'byStatus' | 'byTime'
type RefundItem = Omit<Refund, Times | 'failed'> &
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
  failed: refund.failed.map((failed) => ({ ...failed, failedAt: failed.failedAt.toISOString() })),
})

export const fromRefundItem = (item: Item): Refund => {
  const { work, due, byStatus, byTime, ...refund } = withoutKeys<RefundItem>(item)
  return {
    ...refund,
    createdAt: new Date(refund.createdAt ?? 0),
    processedAt: fromIso(refund.processedAt),
    completedAt: fromIso(refund.completedAt),
    failedAt: fromIso(refund.failedAt),
    failed: refund.failed.map((failed) => ({ ...failed, failedAt: new Date(failed.failedAt) })),
  }
}

export const findRefund = async (reference: Reference): Promise<Refund | undefined> => {
  const item = await read<Item>(keys.refund(reference))
  return item && fromRefundItem(item)
}

/** Reads the refunds of many debits, in no order. */
export const findRefunds = async (references: readonly Reference[]): Promise<Refund[]> =>
  (await readMany(references.map(keys.refund))).map(fromRefundItem)

/** Reads the refund of a debit; only reversed and failed debits can have one. */
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

/** Returns the write that replaces a refund if it is unchanged. */
export const refundReplacement = (previous: Refund, next: Refund) => ({
  Put: {
    TableName: tableName(),
    Item: itemOf({ ...next, version: previous.version + 1 }),
    ConditionExpression: '#version = :previous',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':previous': previous.version },
  },
})

/**
 * Replaces a refund, with other writes in one transaction.
 * @returns undefined when another worker was first
 */
export const replaceRefund = async (
  previous: Refund,
  next: Refund,
  alongside: readonly Write[],
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Refund | undefined> => {
  const { Put } = refundReplacement(previous, next)
  const isWritten = await withConflictRetries(() => putWith(Put, alongside), runtime)
  return isWritten ? { ...next, version: previous.version + 1 } : undefined
}

const PAGE_SIZE = 100

/**
 * Lists open and failed refunds by their creation, or completed ones by their completion, oldest
 * first. The index may lag.
 */
export async function* refundPages(
  list: 'due' | 'completed',
  span: Span,
): AsyncGenerator<Refund[]> {
  const query = spanQuery(keys.refunds(list), span)
  for await (const page of queryPages({ ...query, Limit: PAGE_SIZE })) {
    const references = page.map(({ pk }) => String(pk).slice('DEBIT#'.length) as Reference)
    const items = await readMany(references.map(keys.refund))
    yield items.map(fromRefundItem)
  }
}
