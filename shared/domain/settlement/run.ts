import type { BatchId } from '../ids.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { Refusal } from '../refusal.ts'
import type { Batch } from './batch.ts'

/** The result of the settlement of a day, as an operator starts it for some providers. */
export type RunResult = {
  built: Batch[]
  paid: Batch[]
  /** Due batches that cannot be paid, or whose payout the bank rejected. */
  unpaid: { batch: BatchId; reason: Refusal }[]
  /** Providers to build later: the time was up, or another builder holds the lease. */
  unbuilt: ProviderId[]
  /** Batches to pay later: the time was up, or the bank gave no reply. */
  due: Batch[]
  /** Batches whose payout is in progress at the bank. */
  underway: Batch[]
}
