import { type Batch, type BatchId, withSums } from '../domain/settlement/batch.ts'
import type { Runtime } from '../runtime.ts'
import { findBatch, replaceBatch } from '../store/settlement/batches.ts'
import { linesOf } from '../store/settlement/lines.ts'
import { writeReports } from './reports.ts'

/**
 * Seals a batch, sums its lines and writes its reports, from whichever of these steps it has come
 * to. Nothing is added to what is sealed, so its sums hold for ever.
 */
export const sealBatch = async (
  id: BatchId,
  runtime: Pick<Runtime, 'now' | 'random' | 'pause'>,
): Promise<Batch> => {
  for (;;) {
    const batch = await findBatch(id)
    if (!batch) throw new Error(`Batch ${id} does not exist`)
    const after = await nextStep(batch, runtime)
    if (!after) return batch
    // Where another worker was first, its step is the one that counts.
    await replaceBatch(batch, after, runtime)
  }
}

const nextStep = async (
  batch: Batch,
  { now }: Pick<Runtime, 'now'>,
): Promise<Batch | undefined> => {
  if (!batch.sealedAt) return { ...batch, sealedAt: now() }
  if (!batch.totals) return withSums(batch, linesOf(batch.id))
  if (batch.reportedAt) return undefined
  await writeReports(batch)
  return { ...batch, reportedAt: now() }
}
