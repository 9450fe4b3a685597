import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { Reference } from '../../domain/ids.ts'
import type { Batch, BatchId, Line } from '../../domain/settlement/batch.ts'
import type { Runtime } from '../../runtime.ts'
import { examine } from '../index-lists.ts'
import { keys } from '../keys.ts'
import { queryPages, readCollection, readMany, table, tableName } from '../table.ts'
import { failedConditions, withConflictRetries } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'
import { fromLineItem, toBatchItem, toLineItem } from './batch-item.ts'
import type { Building } from './batches.ts'

/** A line, and the debit that it is about as it was read. */
export type Entry = { debit: Debit; line: Line }

/** Two writes for each, and one for the batch: a transaction takes a hundred. */
export const LINES_PER_WRITE = 45

// The batch comes first; then for each entry its line and its debit.
const BATCH = 0

export type Added =
  | { kind: 'added' }
  /** It takes no lines any more, or another run has opened it: find the one that does. */
  | { kind: 'not open' }
  /** These debits are not as they were read: they are settled already, or were reversed. */
  | { kind: 'changed'; references: Reference[] }

/**
 * Adds lines to an open batch and marks their debits: all or nothing. The first lines create a
 * new batch.
 * @param sweptBefore the sweep has looked at what was completed or reversed before this time
 */
export const addLines = async (
  { batch, isNew }: Building,
  { entries, sweptBefore }: { entries: readonly Entry[]; sweptBefore: Date },
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Added> => {
  const TransactItems = [
    isNew ? opening(batch) : stillOpen(batch),
    ...entries.flatMap((entry) => [lineWrite(batch, entry), markWrite(batch, entry, sweptBefore)]),
  ]
  try {
    await withConflictRetries(runtime, () =>
      table.send(new TransactWriteCommand({ TransactItems })),
    )
    return { kind: 'added' }
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failed = failedConditions(error)
    if (failed[BATCH]) return { kind: 'not open' }
    const changed = entries.filter((_, n) => failed[1 + 2 * n] || failed[2 + 2 * n])
    if (changed.length === 0) throw error
    return { kind: 'changed', references: changed.map(({ line }) => line.reference) }
  }
}

const opening = (batch: Batch) => ({
  Put: {
    TableName: tableName(),
    Item: toBatchItem(batch),
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

const stillOpen = ({ id }: Batch) => ({
  ConditionCheck: {
    TableName: tableName(),
    Key: keys.batch(id),
    ConditionExpression: 'sealedAt = :not',
    ExpressionAttributeValues: { ':not': null },
  },
})

const lineWrite = ({ id }: Batch, { line }: Entry) => ({
  Put: {
    TableName: tableName(),
    Item: toLineItem(id, line),
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** A debit that the sweep has not looked at leaves its place of waiting, so it is put under watch. */
const markWrite = ({ id }: Batch, { debit, line }: Entry, sweptBefore: Date) => {
  const { facts, status, version } = debit
  const mark = line.type === 'debit' ? 'settledIn' : 'adjustedIn'
  const { updatedAt } = stateAt(debit)
  const look = updatedAt < sweptBefore ? undefined : dueAttributes(facts.reference, updatedAt)
  return {
    Update: {
      TableName: tableName(),
      Key: keys.debit(facts.reference),
      UpdateExpression: `SET ${mark} = :batch, #version = :next${
        look ? ', #work = :work, due = :due' : ' REMOVE #work, due'
      }`,
      ConditionExpression: `#status = :status AND #version = :version AND attribute_not_exists(${mark})`,
      ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
      ExpressionAttributeValues: {
        ':batch': id,
        ':status': status,
        ':version': version,
        ':next': version + 1,
        ...(look ? { ':work': look.work, ':due': look.due } : {}),
      },
    },
  }
}

/** Counts the lines of a batch, strongly consistent. */
export const countLines = async (id: BatchId): Promise<number> => {
  let sum = 0
  const pages = examine({ ...linesQuery(id), Select: 'COUNT' }, Number.POSITIVE_INFINITY)
  for await (const { count } of pages) sum += count
  return sum
}

const linesQuery = (id: BatchId) => ({
  KeyConditionExpression: 'pk = :pk',
  FilterExpression: 'entity = :line',
  ExpressionAttributeValues: { ':pk': keys.batch(id).pk, ':line': 'line' },
  ConsistentRead: true,
})

/** The lines of a batch, strongly consistent; the adjustments come first. */
export async function* linesOf(id: BatchId): AsyncGenerator<Line> {
  for await (const page of queryPages(linesQuery(id))) yield* page.map(fromLineItem)
}

/** The adjustment lines of a batch, strongly consistent. */
export const listAdjustments = async (id: BatchId): Promise<Line[]> =>
  (await readCollection(keys.batch(id).pk, 'ADJUSTMENT#')).map(fromLineItem)

/** The lines that debits have in the batches they were settled in, by reference. */
export const findLines = async (
  wanted: readonly { batch: BatchId; reference: Reference }[],
): Promise<Map<Reference, Line>> => {
  const items = await readMany(
    wanted.map(({ batch, reference }) => keys.line(batch, 'debit', reference)),
  )
  return new Map(items.map(fromLineItem).map((line) => [line.reference, line]))
}
