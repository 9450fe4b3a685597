import { Refusal } from '../domain/refusal.ts'
import type { Batch, BatchId } from '../domain/settlement/batch.ts'
import { beginPayment, endPayment } from '../domain/settlement/payment.ts'
import type { Runtime } from '../runtime.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findProvider } from '../store/providers/providers.ts'
import { findBatch, findBatches } from '../store/settlement/batches.ts'
import type { Write } from '../store/table.ts'
import { belowZeroBefore, notPayable, writeTogether } from './pay.ts'

/**
 * Records that a bank has paid a batch, as an operator learned from the bank. Nothing is sent.
 * @param alongside the record of the operator's change
 * @returns 5404 for no batch, 5005 for a completed one, 5001 for one that cannot have been paid
 */
export const completeBatch = async (
  id: BatchId,
  bankReference: string,
  runtime: Runtime,
  alongside: (before: Batch, after: Batch) => readonly Write[],
): Promise<Batch | Refusal> => {
  for (;;) {
    const batch = await findBatch(id)
    if (!batch) return new Refusal(5404)
    if (batch.status === 'completed') return new Refusal(5005)
    const generation = (await findRestore())?.generation
    const outcome = { bankReference, at: runtime.now(), generation }
    const paid =
      batch.status === 'processing' ? await inProgress(batch) : await notBegun(batch, outcome)
    if (paid instanceof Refusal) return paid
    const ended = endPayment(paid.batch, outcome, paid.others)
    const writing = { runtime, alongside: alongside(batch, ended.batch) }
    const written = await writeTogether(batch, paid.before, ended, writing)
    // Another worker was first, or it has another batch to make good: judge it again.
    if (typeof written !== 'string') return written
  }
}

type Paid = { batch: Batch; others: Batch[]; before: Batch[] }

const inProgress = async (batch: Batch): Promise<Paid> => {
  const others = await findBatches(batch.offsets.map(({ batch: one }) => one))
  return { batch, others, before: others }
}

/** The payout of a batch that is not being paid here: it makes good what a payout now would. */
const notBegun = async (
  batch: Batch,
  { at, generation }: { at: Date; generation: number | undefined },
): Promise<Paid | Refusal> => {
  if (!batch.totals || !batch.reportedAt) return notPayable('the batch is being built')
  if (batch.totals.net <= 0) return notPayable('the net is not positive: it has no payout')
  const account = (await findProvider(batch.provider))?.settlementAccount
  if (!account) return notPayable('the provider has no settlement account')
  const before = await belowZeroBefore(batch)
  return { ...beginPayment(batch, { belowZero: before, account, at, generation }), before }
}
