import type { BatchId } from '../domain/ids.ts'
import { type Batch, withSums } from '../domain/settlement/batch.ts'
import { reportFormats } from '../domain/settlement/list-query.ts'
import type { Runtime } from '../runtime.ts'
import { findHolidays } from '../store/banks/calendar.ts'
import { findBatch, replaceBatch, replaceBatches } from '../store/settlement/batches.ts'
import { gateWrites, readSortedLines } from '../store/settlement/lines.ts'
import { payoutDayOf } from './payout-day.ts'
import { writeReport } from './report/bucket.ts'
import { render } from './report/render.ts'

/** Seals a batch, sums its lines and writes its reports; continues at the first missing step. */
export const finishBatch = async (id: BatchId, runtime: Runtime): Promise<void> => {
  await sealBatch(id, runtime)
  for (;;) {
    const batch = await readBatch(id)
    if (batch.reportedAt) return
    const lines = await readSortedLines(id)
    const summed = await withSums(batch, lines)
    await Promise.all(
      reportFormats.map((format) => writeReport(batch, format, render(format, summed, lines))),
    )
    // If another worker wrote first, the next round continues from its write.
    await replaceBatch(batch, { ...summed, reportedAt: runtime.now() })
  }
}

/** Closes all lanes of a batch at once. @returns false if another worker has sealed it */
export const sealBatch = async (id: BatchId, runtime: Runtime): Promise<boolean> => {
  for (;;) {
    const batch = await readBatch(id)
    if (batch.sealedAt) return false
    if (await close(batch, runtime)) return true
  }
}

const close = async (previous: Batch, runtime: Runtime): Promise<boolean> => {
  const payOn = await payoutDayOf(previous, await findHolidays(previous.date))
  const next = { ...previous, sealedAt: runtime.now(), payOn }
  const gates = gateWrites(previous)
  if (gates.length === 0) return (await replaceBatch(previous, next)) !== undefined
  const written = await replaceBatches([{ previous, next }], { alongside: gates }, runtime)
  return written.kind === 'written'
}

const readBatch = async (id: BatchId): Promise<Batch> => {
  const batch = await findBatch(id)
  if (!batch) throw new Error(`Batch ${id} does not exist`)
  return batch
}
