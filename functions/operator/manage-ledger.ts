import { openDay } from '../../shared/ledger/day.ts'
import { renderJournal } from '../../shared/ledger/render.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { ledger } from '../../shared/operator/nouns/accounting.ts'
import { real } from '../../shared/runtime.ts'
import { readReport, writeReport } from '../../shared/settlement/report/bucket.ts'

/** The command downloads a longer journal from S3. */
const REPLY_MAX_BYTES = 1024 * 1024

export const manageLedger = operatorHandler(ledger, {
  show: async ({ date, format }) => {
    const day = await openDay(date)
    const report = { journal: date }
    await writeReport(report, format, renderJournal(format, date, day))
    const written = await readReport(report, format, REPLY_MAX_BYTES)
    if (!written) throw new Error(`The journal of ${date} is gone`)
    if ('url' in written) return { download: written.url }
    return format === 'csv' ? written.text : JSON.parse(written.text)
  },
})

export const handler = manageLedger(real)
