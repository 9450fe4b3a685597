import { type Batch, type Line, payableFrom } from '../../domain/settlement/batch.ts'
import { fromIso, iso } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import { withoutKeys } from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/** How batches and their lines are written down: times as ISO text, amounts in pesewas. */

type Times = 'createdAt' | 'sealedAt' | 'reportedAt' | 'processedAt' | 'completedAt' | 'failedAt'

type BatchItem = Omit<Batch, Times> & Record<Times, string | null>

type Listed = Record<'work' | 'due' | 'byStatus' | 'byTime', unknown>

/** By then a run that builds it has ended, or was cut off. */
const BUILDING_MS = 900_000
const built = (since: Date): Date => new Date(since.getTime() + BUILDING_MS)

/**
 * Where a batch is looked for: by the sweep while somebody is at work on it, by the run of its
 * day once it can be paid, by a later batch while its net is below zero, by reconciliation once
 * its payment failed.
 */
const workOf = (batch: Batch): { work: string; due: string } => {
  const { id, provider, status, createdAt, sealedAt, totals, reportedAt } = batch
  switch (status) {
    case 'pending':
      if (!totals || !reportedAt) return dueAttributes(id, built(sealedAt ?? createdAt))
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

/** Where a batch stands in its provider's list. */
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

export const fromBatchItem = (item: Record<string, unknown>): Batch => {
  const { work, due, byStatus, byTime, ...batch } = withoutKeys<BatchItem & Listed>(item)
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

export const fromLineItem = (item: Record<string, unknown>): Line => {
  const line = withoutKeys<LineItem>(item)
  return { ...line, completedAt: new Date(line.completedAt) }
}
