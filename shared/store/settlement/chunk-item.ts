import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Complete, noneRemain } from '../../domain/complete.ts'
import type { BatchId, ChunkId, Reference } from '../../domain/ids.ts'
import type { Pesewas } from '../../domain/money.ts'
import { type Line, type LineType, lineTypes } from '../../domain/settlement/batch.ts'
import { keys } from '../keys.ts'
import type { Item } from '../table.ts'

/**
 * The stored form of lines: a chunk has all lines of one transaction, each a row of JSON text. The
 * reference is first, so that sorted rows are in the order of their references.
 */

export type LineMark = `${BatchId}#${ChunkId}`

/** Returns the mark of a settled debit: the batch and the chunk of its line. */
export const markOf = (batch: BatchId, chunk: ChunkId): LineMark => `${batch}#${chunk}`

export const parseMark = (mark: LineMark | undefined) => {
  if (mark === undefined) return undefined
  const end = mark.indexOf('#')
  return { batch: mark.slice(0, end) as BatchId, chunk: mark.slice(end + 1) as ChunkId }
}

/** 200,000 lines are at most 9,999 chunks of a lane, unless runs of few lines end early. */
const NUMBER_DIGITS = 4

export const chunkId = (lane: number, n: number): ChunkId =>
  `${lane}#${String(n).padStart(NUMBER_DIGITS, '0')}`

type ChunkContents = {
  id: ChunkId
  lines: readonly Line[]
  /** The lines of the lane up to this chunk, with it. */
  linesInLane: number
}

/** The members of a chunk, each with the rows of one type. */
const MEMBERS: Record<LineType, string> = { debit: 'debits', adjustment: 'adjustments' }

export const toChunkItem = (batch: BatchId, { id, lines, linesInLane }: ChunkContents) => {
  const rows = lineTypes.flatMap((type) => {
    const own = lines.filter((line) => line.type === type).map(rowOf)
    return own.length > 0 ? [[MEMBERS[type], own.join('\n')]] : []
  })
  return { ...keys.chunk(batch, id), entity: 'lines', linesInLane, ...Object.fromEntries(rows) }
}

/** The attribute names the type, and the net follows from gross and fee. */
const rowOf = ({
  reference,
  partnerReference,
  bankReference,
  bank,
  completedAt,
  gross,
  fee,
  type: _type,
  net: _net,
  ...others
}: Line) => {
  noneRemain(others)
  return JSON.stringify([
    reference,
    partnerReference,
    bankReference,
    bank,
    completedAt.getTime(),
    gross,
    fee,
  ])
}

type LineRow = [Reference, string, string | null, BankIdentifier, number, Pesewas, Pesewas]

export const parseRow = (type: LineType, row: string): Complete<Line> => {
  const [reference, partnerReference, bankReference, bank, completedAt, gross, fee] = JSON.parse(
    row,
  ) as LineRow
  return {
    type,
    reference,
    partnerReference,
    bankReference,
    bank,
    completedAt: new Date(completedAt),
    gross,
    fee,
    net: (gross - fee) as Pesewas,
  }
}

/** Returns the rows of a type in a stored chunk. */
export const rowsIn = (item: Item, type: LineType): string[] => {
  const rows = item[MEMBERS[type]]
  return typeof rows === 'string' ? rows.split('\n') : []
}

/** Returns the lines of a type in a stored chunk; by default, of all references. */
export const linesIn = (
  item: Item,
  type: LineType,
  isWanted: (reference: Reference) => boolean = () => true,
): Line[] =>
  rowsIn(item, type)
    .filter((row) => isWanted(referenceIn(row)))
    .map((row) => parseRow(type, row))

const referenceIn = (row: string) => row.slice(2, row.indexOf('"', 2)) as Reference
