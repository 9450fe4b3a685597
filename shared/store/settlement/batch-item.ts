import { type Batch, payableFrom } from '../../domain/settlement/batch.ts'
import { secondsAfter } from '../../domain/time.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import { type Item, withoutKeys } from '../table.ts'
import { doubled, dueAt, dueAttributes } from '../work-index.ts'

/** The stored form of batches: times as ISO text, amounts in pesewas. */

const TIMES = {
  createdAt: true,
  sealedAt: true,
  reportedAt: true,
  processedAt: true,
  sentAt: true,
  completedAt: true,
  failedAt: true,
} as const

/** The longest run of a builder. */
const BUILDING_SECONDS = 900

/**
 * Returns the place of a batch in the work index: of the sweep while it is being built or paid, of the
 * nightly run when it can be paid, of later batches while its net is below zero, or of failed batches.
 */
const workOf = (batch: Batch): { work: string; due: string } => {
  const { id, provider, status, createdAt, sealedAt, totals, reportedAt } = batch
  const { processedAt, sentAt = processedAt } = batch
  switch (status) {
    case 'pending':
      if (!totals || !reportedAt)
        return dueAttributes(keys.batch(id), secondsAfter(sealedAt ?? createdAt, BUILDING_SECONDS))
      return totals.net < 0
        ? { work: keys.belowZero(provider), due: createdAt.toISOString() }
        : { work: keys.payable, due: payableFrom(batch).toISOString() }
    case 'processing':
      return dueAt(keys.batch(id), doubled(processedAt ?? createdAt, sentAt ?? createdAt))
    case 'completed':
      return dueAttributes(keys.batch(id), batch.completedAt ?? createdAt)
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
  ...toStored(batch),
})

export const fromBatchItem = (item: Item): Batch => fromStored<Batch>(withoutKeys(item), TIMES)
