import type { BatchResult } from '../../shared/views/batch.ts'
import { isAboveZero, sumOf } from './amounts.ts'

type Payable = BatchResult & { payable_on: string }

/** Reports whether a batch waits for its payout. */
export const isPayable = (batch: BatchResult): batch is Payable =>
  batch.status === 'pending' && isAboveZero(batch.net) && batch.payable_on !== null

/** Returns the batches that `settlement run` of a day pays. */
export const dueBatches = (
  batches: readonly BatchResult[],
  { date = '', provider }: { date?: string; provider?: string },
): { sum: string; providers: string[] } => {
  const due = batches.filter(
    (batch) =>
      isPayable(batch) && batch.payable_on <= date && (!provider || batch.provider === provider),
  )
  return {
    sum: sumOf(due.map(({ net }) => net)),
    providers: [...new Set(due.map((batch) => batch.provider))],
  }
}
