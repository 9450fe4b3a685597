import type { Batch } from '../domain/settlement/batch.ts'
import { reportFormats } from '../domain/settlement/list-query.ts'
import { linesOf } from '../store/settlement/lines.ts'
import { writeReport } from './report/bucket.ts'
import { render } from './report/render.ts'

/** Writes the reports of a sealed batch, each from its lines; written again they are the same. */
export const writeReports = async (batch: Batch): Promise<void> => {
  await Promise.all(
    reportFormats.map((format) =>
      writeReport(batch, format, render(format, batch, linesOf(batch.id))),
    ),
  )
}
