import { type Batch, type Line, payableFrom } from '../../domain/settlement/batch.ts'
import { fromIso, iso, secondsAfter } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import { type Item, withoutKeys } from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/** The stored form of batches and their lines: times as ISO text, amounts in pesewas. */

type Times = 'createdAt' | 'sealedAt' | 'reportedAt' | 'processedAt' | 'completedAt' | 'failedAt'

type BatchItem = Omit<Batch, Times> &
  Record<Times, string | null> &
  Record<'work' | 'due' | 'byStatus' | 'byTime', unknown>

/** The longest run of a builder. */
const BUILDING_SECONDS = 900

/**
 * Returns the place of a batch in the work index: of the sweep while it is being built or paid, of the
 * nightly run when it can be paid, of later batches while its net is below zero, or of failed batches.
 */
const workOf = (batch: Batch): { work: string; due: string } => {
  const { id, provider, status, createdAt, sealedAt, totals, reportedAt } = batch
  switch (status) {
    case 'pending':
      if (!totals || !reportedAt)
        return dueAttributes(id, secondsAfter(sealedAt ?? createdAt, BUILDING_SECONDS))
      return totals.net < 0
        ? { work: keys.belowZero(provider), due: createdAt.toISOString() }
        : { work: keys.payable, due: payableFrom(batch).toISOString() }
    case 'processing':
      return dueAttributes(id, batch.processedAt ?? createdAt)
    case 'completed':
      return dueAttributes(id, batch.completedAt ?? createdAt)
    case 'failed':
      return { work: keys.failedBatches, due: (batch.failedAt ?? createdAt).toISOString() }
  }
}

/** Returns the position of a batch in its provider's list. */
export const positionOf = ({ date, n }: Pick<Batch, 'date' | 'n'>): string =>
  `${date}#${String(n).padStart(4, '0')}`

export const toBatchItem = (batch: Batch) => ({
  ...keys.batch(batch.id),
  entity: 'batch',
  byStatus: keys.batches(batch.provider),
  byTime: positionOf(batch),
  ...workOf(batch),
  ...batch,
  createdAt: batch.createdAt.toISOString(),
  sealedAt: iso(batch.sealedAt),
  reportedAt: iso(batch.reportedAt),
  processedAt: iso(batch.processedAt),
  completedAt: iso(batch.completedAt),
  failedAt: iso(batch.failedAt),
})

export const fromBatchItem = (item: Item): Batch => {
  const { work, due, byStatus, byTime, ...batch } = withoutKeys<BatchItem>(item)
  return {
    ...batch,
    createdAt: new Date(batch.createdAt ?? 0),
    sealedAt: fromIso(batch.sealedAt),
    reportedAt: fromIso(batch.reportedAt),
    processedAt: fromIso(batch.processedAt),
    completedAt: fromIso(batch.completedAt),
    failedAt: fromIso(batch.failedAt),
  }
}

type LineItem = Omit<Line, 'completedAt'> & { completedAt: string }

export const toLineItem = (id: Batch['id'], line: Line) => ({
  ...keys.line(id, line.type, line.reference),
  entity: 'line',
  ...line,
  completedAt: line.completedAt.toISOString(),
})

export const fromLineItem = (item: Item): Line => {
  const line = withoutKeys<LineItem>(item)
  return { ...line, completedAt: new Date(line.completedAt) }
}
