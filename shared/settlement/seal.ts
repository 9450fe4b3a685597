import { type Batch, type BatchId, withSums } from '../domain/settlement/batch.ts'
import { reportFormats } from '../domain/settlement/list-query.ts'
import type { Runtime } from '../runtime.ts'
import { findBatch, replaceBatch } from '../store/settlement/batches.ts'
import { linesOf } from '../store/settlement/lines.ts'
import { writeReport } from './report/bucket.ts'
import { render } from './report/render.ts'

/** Seals a batch, sums its lines and writes its reports; continues at the first missing step. */
export const sealBatch = async (id: BatchId, runtime: Runtime): Promise<Batch> => {
  for (;;) {
    const batch = await findBatch(id)
    if (!batch) throw new Error(`Batch ${id} does not exist`)
    const next = await nextStep(batch, runtime)
    if (!next) return batch
    // If another worker wrote first, the next round continues from its write.
    await replaceBatch(batch, next, runtime)
  }
}

const nextStep = async (batch: Batch, { now }: Runtime): Promise<Batch | undefined> => {
  if (!batch.sealedAt) return { ...batch, sealedAt: now() }
  if (!batch.totals) return withSums(batch, linesOf(batch.id))
  if (batch.reportedAt) return undefined
  await Promise.all(
    reportFormats.map((format) =>
      writeReport(batch, format, render(format, batch, linesOf(batch.id))),
    ),
  )
  return { ...batch, reportedAt: now() }
}
