import * as v from 'valibot'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Month } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { readStatement } from '../../shared/settlement/monthly-statement.ts'
import { statementCsv, statementPage } from '../../shared/settlement/report/monthly-statement.ts'
import { monthlyStatementView } from '../../shared/views/monthly-statement.ts'

/** Returns the statement of a month (docs/api.md#monthly-statements). */
export const getMonthlyStatement = endpoint(
  'get-monthly-statement',
  async ({ path, caller: { provider }, query: { format }, at }) => {
    const month = v.safeParse(Month, path.month)
    if (!month.success) return notFound('get-monthly-statement')
    const statement = await readStatement(provider.id, month.output, at)
    if (format === 'json') return { data: monthlyStatementView(statement) }
    return {
      text:
        format === 'csv' ? statementCsv(statement) : statementPage(statement, provider.name, at),
      type: `text/${format}; charset=utf-8`,
      filename: `statement-${month.output}.${format}`,
    }
  },
)

export const handler = getMonthlyStatement(real)
