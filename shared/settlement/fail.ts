import type { BatchId } from '../domain/ids.ts'
import { replyLost } from '../domain/operator/approval.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { failPayment } from '../domain/settlement/payment.ts'
import { measure } from '../metrics.ts'
import type { Runtime } from '../runtime.ts'
import { findBatches } from '../store/settlement/batches.ts'
import type { Write } from '../store/table.ts'
import { findUnderway } from './due.ts'
import { replaceTogether } from './pay.ts'

/**
 * Fails a payout without a final reply, with the effect of a rejection. Sends nothing to the bank.
 * @param failure the operator's reason
 * @param recordChange returns the writes that record the operator's change
 * @returns 5404 for an unknown batch, 5005 if its payout has ended, 5001 if it has not begun or was sent in the
 *   last minute
 */
export const failBatch = async (
  id: BatchId,
  failure: string,
  recordChange: (previous: Batch, next: Batch) => readonly Write[],
  runtime: Runtime,
): Promise<Batch | Refusal> => {
  for (;;) {
    const at = runtime.now()
    const batch = await findUnderway(id, at)
    if (batch instanceof Refusal) return batch
    const others = await findBatches(batch.offsets.map((offset) => offset.batch))
    const failed = failPayment(batch, { failure, at }, others)
    const alongside = recordChange(batch, failed.batch)
    const written = await replaceTogether(batch, others, failed, { alongside }, runtime)
    if (written.kind === 'recorded') return replyLost()
    // A concurrent write to any of the batches: decide again.
    if (written.kind !== 'written') continue
    measure({ SettlementFailed: 1 })
    return written.batch
  }
}
