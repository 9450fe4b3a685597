import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { real } from '../../shared/runtime.ts'
import { readReport } from '../../shared/settlement/report/bucket.ts'
import { findProviderBatch } from '../../shared/store/settlement/batches.ts'

/** Returns the report of a sealed batch, over 4 MB a 303 with its URL (docs/api.md#settlement-reports). */
export const getSettlementReport = endpoint(
  'get-settlement-report',
  async ({ path, caller, query }) => {
    const batch = await findProviderBatch(caller.provider.id, path.id)
    if (!batch) return notFound('get-settlement-report')
    if (!batch.reportedAt) return new Refusal(5001, { details: 'the batch is being built' })
    const report = await readReport(batch, query.format)
    if (!report) throw new Error(`The ${query.format} report of ${batch.id} is gone`)
    if ('download' in report) {
      const { download: url } = report
      return { data: { url }, headers: { Location: url }, status: 303 }
    }
    return query.format === 'csv'
      ? { text: report.text, type: 'text/csv; charset=utf-8', filename: `${batch.id}.csv` }
      : { data: JSON.parse(report.text) }
  },
)

export const handler = getSettlementReport(real)
