import type { BatchResult } from '../../shared/views/batch.ts'
import { isAboveZero, sumOf } from './amounts.ts'

/** Returns the batches that `settlement run` of a day pays. */
export const dueBatches = (
  batches: readonly BatchResult[],
  { date = '', provider }: { date?: string; provider?: string },
): { sum: string; providers: string[] } => {
  const due = batches.filter(
    (batch) =>
      batch.status === 'pending' &&
      isAboveZero(batch.net) &&
      batch.payable_on !== null &&
      batch.payable_on <= date &&
      (!provider || batch.provider === provider),
  )
  return {
    sum: sumOf(due.map(({ net }) => net)),
    providers: [...new Set(due.map((batch) => batch.provider))],
  }
}
