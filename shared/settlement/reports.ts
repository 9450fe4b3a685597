import type { Batch } from '../domain/settlement.ts'
import { reportFormats } from '../domain/settlement-list.ts'
import { writeReport } from '../reports/bucket.ts'
import { render } from '../reports/render.ts'
import { linesOf } from '../store/settlement-lines.ts'

/** Writes the reports of a sealed batch, each from its lines; written again they are the same. */
export const writeReports = async (batch: Batch): Promise<void> => {
  await Promise.all(
    reportFormats.map((format) =>
      writeReport(batch, format, render(format, batch, linesOf(batch.id))),
    ),
  )
}
