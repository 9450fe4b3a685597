import type { BatchResult } from '../../shared/views/batch.ts'
import type { ProviderResult } from '../../shared/views/operator/provider.ts'
import { isAboveZero, sumOf } from './amounts.ts'

type Payable = BatchResult & { payable_on: string }

/** Reports whether a batch waits for its payout. */
export const isPayable = (batch: BatchResult): batch is Payable =>
  batch.status === 'pending' && isAboveZero(batch.net) && batch.payable_on !== null

/** Reports whether a provider gets no payouts at present. */
export const isHeld = ({ status, payouts_held_until }: ProviderResult): boolean =>
  status === 'suspended' || payouts_held_until !== null

type DueOptions = { date?: string; provider?: string; held?: readonly string[] }

/** Returns the batches that `settlement run` of a day pays, without those of held providers. */
export const dueBatches = (
  batches: readonly BatchResult[],
  { date = '', provider, held = [] }: DueOptions,
): { sum: string; providers: string[] } => {
  const due = batches.filter(
    (batch) =>
      isPayable(batch) &&
      batch.payable_on <= date &&
      (!provider || batch.provider === provider) &&
      !held.includes(batch.provider),
  )
  return {
    sum: sumOf(due.map(({ net }) => net)),
    providers: [...new Set(due.map((batch) => batch.provider))],
  }
}
