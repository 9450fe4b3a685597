import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { BatchId, ChunkId, Reference } from '../../domain/ids.ts'
import type { Batch, Line } from '../../domain/settlement/batch.ts'
import { startOf } from '../../domain/time.ts'
import type { Jitter } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { debitExpiry } from '../retention.ts'
import * as db from '../table.ts'
import { transactWrites } from '../transactions.ts'
import { dueAttributes } from '../work-index.ts'
import { toBatchItem } from './batch-item.ts'
import type { Building } from './batches.ts'
import { chunkId, linesIn, markOf, parseRow, rowsIn, toChunkItem } from './chunk-item.ts'

/** A line, and its debit when it was read. */
export type LineEntry = { debit: Debit; line: Line }

/** A transaction has at most a hundred writes: a gate, a chunk, and the mark of each debit. */
export const LINES_PER_CHUNK = 98

// The gate is first, then the chunk; then the debits.
const MARKS = 2

/** The end of a lane in a batch: the number of its last chunk, and its lines. */
export type LaneEnd = { lane: number; chunk: number; lines: number }

type AddResult =
  | { kind: 'added'; end: LaneEnd }
  /** The batch is sealed, or another builder has opened it or written this chunk: read both again. */
  | { kind: 'moved' }
  /** These debits have changed since they were read: they are settled or reversed. */
  | { kind: 'changed'; references: Reference[] }

/**
 * Adds a chunk of lines to a lane of an open batch and marks their debits in one transaction. The first
 * lines create a new batch. Transactions of different lanes have no item in common.
 * @param sweptBefore the sweep has checked every debit that was completed or reversed before
 */
export const addLines = async (
  { batch, isNew: isNewBatch }: Building,
  { lane, chunk, lines }: LaneEnd,
  { entries, sweptBefore }: { entries: readonly LineEntry[]; sweptBefore: Date },
  runtime: Jitter,
): Promise<AddResult> => {
  const id = chunkId(lane, chunk + 1)
  const end = { lane, chunk: chunk + 1, lines: lines + entries.length }
  const contents = { id, lines: entries.map(({ line }) => line), linesInLane: end.lines }
  const writes = [
    isNewBatch ? db.putWrite(toBatchItem(batch), db.isNew) : openGate(batch.id, lane),
    db.putWrite(toChunkItem(batch.id, contents), db.isNew),
    ...entries.map((entry) => markWrite(batch, id, entry, sweptBefore)),
  ]
  const failed = await transactWrites(writes, runtime)
  if (failed.length === 0) return { kind: 'added', end }
  if (failed.slice(0, MARKS).includes(true)) return { kind: 'moved' }
  const changed = entries.filter((_, index) => failed[MARKS + index])
  return { kind: 'changed', references: changed.map(({ line }) => line.reference) }
}

const openGate = (id: BatchId, lane: number) => ({
  ConditionCheck: {
    TableName: db.tableName(),
    ...(lane === 0
      ? {
          Key: keys.batch(id),
          ConditionExpression: 'sealedAt = :not',
          ExpressionAttributeValues: { ':not': null },
        }
      : { Key: keys.gate(id, lane), ...db.isNew }),
  },
})

/** Returns the writes that close the gates of a batch; its header closes lane 0. */
export const gateWrites = ({ id, lanes = 1 }: Batch): db.Write[] =>
  Array.from({ length: lanes - 1 }, (_, index) =>
    db.putWrite({ ...keys.gate(id, index + 1), entity: 'gate' }),
  )

/** A settled debit leaves the list of unsettled ones. The sweep still checks it if it has not yet. */
const markWrite = (
  { id, date }: Batch,
  chunk: ChunkId,
  { debit, line }: LineEntry,
  sweptBefore: Date,
) => {
  const { facts, status, version } = debit
  const mark = line.type === 'debit' ? 'settledIn' : 'adjustedIn'
  const { updatedAt } = stateAt(debit)
  const key = keys.debit(facts.reference)
  const due = updatedAt < sweptBefore ? undefined : dueAttributes(key, updatedAt)
  const { expiresAt } = debitExpiry(startOf(date))
  return db.updateWrite(key, {
    UpdateExpression: `SET ${mark} = :mark, #version = :next${expiresAt ? ', expiresAt = :expires' : ''}${
      due ? ', #work = :work, due = :due' : ' REMOVE #work, due'
    }`,
    ConditionExpression: `#status = :status AND #version = :version AND attribute_not_exists(${mark})`,
    ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
    ExpressionAttributeValues: {
      ':mark': markOf(id, chunk),
      ':status': status,
      ':version': version,
      ':next': version + 1,
      ...(due && { ':work': due.work, ':due': due.due }),
      ...(expiresAt && { ':expires': expiresAt }),
    },
  })
}

/** Reads the end of a lane in a batch, strongly consistent. */
export const findLaneEnd = async (id: BatchId, lane: number): Promise<LaneEnd> => {
  const query = { ...db.collectionQuery(keys.chunks(id, lane)), ScanIndexForward: false, Limit: 1 }
  const [last] = await db.queryAll(query)
  if (!last) return { lane, chunk: 0, lines: 0 }
  return { lane, chunk: Number(String(last.sk).split('#').at(-1)), lines: Number(last.linesInLane) }
}

/** Lists the lines of a batch, strongly consistent, in no order. */
export async function* linesOf(id: BatchId): AsyncGenerator<Line> {
  for await (const page of db.queryPages(db.collectionQuery(keys.chunks(id)))) {
    for (const chunk of page) yield* [...linesIn(chunk, 'adjustment'), ...linesIn(chunk, 'debit')]
  }
}

/**
 * Reads the lines of a batch in the order of its reports: the adjustments first, then by reference. In
 * memory, lines are rows of about 100 bytes until they are consumed.
 */
export const readSortedLines = async (id: BatchId): Promise<Iterable<Line>> => {
  const rows = { adjustment: [] as string[], debit: [] as string[] }
  for await (const page of db.queryPages(db.collectionQuery(keys.chunks(id)))) {
    for (const chunk of page) {
      rows.adjustment.push(...rowsIn(chunk, 'adjustment'))
      rows.debit.push(...rowsIn(chunk, 'debit'))
    }
  }
  rows.adjustment.sort()
  rows.debit.sort()
  return {
    *[Symbol.iterator]() {
      for (const row of rows.adjustment) yield parseRow('adjustment', row)
      for (const row of rows.debit) yield parseRow('debit', row)
    },
  }
}

export const listAdjustments = async (id: BatchId): Promise<Line[]> => {
  const FilterExpression = 'attribute_exists(adjustments)'
  const chunks = await db.queryAll({ ...db.collectionQuery(keys.chunks(id)), FilterExpression })
  return chunks.flatMap((chunk) => linesIn(chunk, 'adjustment'))
}

/** Reads the lines of debits, or their adjustments, in the batches and chunks that the debits name. */
export const findLines = async (
  debits: readonly Debit[],
  type: Line['type'] = 'debit',
): Promise<Map<Reference, Line>> => {
  const places = debits.flatMap((debit) => placeOf(debit, type))
  const references = new Set(debits.map(({ facts }) => facts.reference))
  const chunks = await db.readMany(places)
  const lines = chunks.flatMap((chunk) => linesIn(chunk, type, (one) => references.has(one)))
  return new Map(lines.map((line) => [line.reference, line]))
}

const placeOf = (debit: Debit, type: Line['type']) => {
  const { settledIn, settledChunk, adjustedIn, adjustedChunk } = debit
  const [batch, chunk] = type === 'debit' ? [settledIn, settledChunk] : [adjustedIn, adjustedChunk]
  return batch && chunk ? [keys.chunk(batch, chunk)] : []
}
