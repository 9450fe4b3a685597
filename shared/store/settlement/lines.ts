import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { Reference } from '../../domain/ids.ts'
import type { Batch, BatchId, Line } from '../../domain/settlement/batch.ts'
import type { Jitter } from '../../runtime.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import { transactWrites } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'
import { fromLineItem, toBatchItem, toLineItem } from './batch-item.ts'
import type { Building } from './batches.ts'

/** A line, and its debit when it was read. */
export type LineEntry = { debit: Debit; line: Line }

/** A transaction has at most a hundred writes: two for each line and one for the batch. */
export const LINES_PER_WRITE = 45

// The batch is first; then the line and the debit of each entry.
const BATCH = 0

export type AddResult =
  | { kind: 'added' }
  /** The batch is sealed, or another run has opened it: find the open batch again. */
  | { kind: 'not open' }
  /** These debits have changed since they were read: they are settled or reversed. */
  | { kind: 'changed'; references: Reference[] }

/**
 * Adds lines to an open batch and marks their debits in one transaction. The first lines create a new
 * batch.
 * @param sweptBefore the sweep has checked every debit that was completed or reversed before
 */
export const addLines = async (
  { batch, isNew: isNewBatch }: Building,
  { entries, sweptBefore }: { entries: readonly LineEntry[]; sweptBefore: Date },
  runtime: Jitter,
): Promise<AddResult> => {
  const writes = [
    isNewBatch ? db.putWrite(toBatchItem(batch), db.isNew) : stillOpen(batch),
    ...entries.flatMap((entry) => [lineWrite(batch, entry), markWrite(batch, entry, sweptBefore)]),
  ]
  const failed = await transactWrites(writes, runtime)
  if (failed.length === 0) return { kind: 'added' }
  if (failed[BATCH]) return { kind: 'not open' }
  const changed = entries.filter((_, index) => failed[1 + 2 * index] || failed[2 + 2 * index])
  return { kind: 'changed', references: changed.map(({ line }) => line.reference) }
}

const stillOpen = ({ id }: Batch) => ({
  ConditionCheck: {
    TableName: db.tableName(),
    Key: keys.batch(id),
    ConditionExpression: 'sealedAt = :not',
    ExpressionAttributeValues: { ':not': null },
  },
})

const lineWrite = ({ id }: Batch, { line }: LineEntry) =>
  db.putWrite(toLineItem(id, line), db.isNew)

/** A settled debit leaves the list of unsettled ones. The sweep still checks it if it has not yet. */
const markWrite = ({ id }: Batch, { debit, line }: LineEntry, sweptBefore: Date) => {
  const { facts, status, version } = debit
  const mark = line.type === 'debit' ? 'settledIn' : 'adjustedIn'
  const { updatedAt } = stateAt(debit)
  const due = updatedAt < sweptBefore ? undefined : dueAttributes(facts.reference, updatedAt)
  return db.updateWrite(keys.debit(facts.reference), {
    UpdateExpression: `SET ${mark} = :batch, #version = :next${
      due ? ', #work = :work, due = :due' : ' REMOVE #work, due'
    }`,
    ConditionExpression: `#status = :status AND #version = :version AND attribute_not_exists(${mark})`,
    ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
    ExpressionAttributeValues: {
      ':batch': id,
      ':status': status,
      ':version': version,
      ':next': version + 1,
      ...(due && { ':work': due.work, ':due': due.due }),
    },
  })
}

export const countLines = async (id: BatchId): Promise<number> => {
  let sum = 0
  for await (const { count } of db.examine({ ...linesQuery(id), Select: 'COUNT' })) sum += count
  return sum
}

const linesQuery = (id: BatchId) => ({
  ...db.itemsQuery(keys.batch(id).pk, undefined, { ':line': 'line' }),
  FilterExpression: 'entity = :line',
})

/** Lists the lines of a batch, strongly consistent; the adjustments are first. */
export async function* linesOf(id: BatchId): AsyncGenerator<Line> {
  for await (const page of db.queryPages(linesQuery(id))) yield* page.map(fromLineItem)
}

export const listAdjustments = async (id: BatchId): Promise<Line[]> =>
  (await db.readCollection({ pk: keys.batch(id).pk, prefix: 'ADJUSTMENT#' })).map(fromLineItem)

export const findLines = async (settled: readonly { batch: BatchId; reference: Reference }[]) => {
  const lines = settled.map(({ batch, reference }) => keys.line(batch, 'debit', reference))
  const items = await db.readMany(lines)
  return new Map(items.map(fromLineItem).map((line) => [line.reference, line]))
}
