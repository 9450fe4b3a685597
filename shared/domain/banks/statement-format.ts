import * as v from 'valibot'
import { oneOf } from '../text.ts'

/** How a bank writes its statements (docs/operations.md#a-banks-statement). */

/** The fields of a row. `outgoing` is the amount of a refund or a payout, in a column of its own. */
export const statementFields = [
  ...(['uuid', 'bank_reference', 'amount', 'outgoing', 'kind', 'currency'] as const),
  'completed_at',
] as const
export type StatementField = (typeof statementFields)[number]

export type StatementColumns = Partial<Record<StatementField, string>>

const COLUMN_MAX = 100
const SHORT_NAMES: Record<string, string> = { date: 'completed_at' }

/** Parses `amount=Credit Amt,date=Value Date`: the bank's column of each field. */
export const StatementColumns = v.pipe(
  v.string(),
  v.maxLength(1_000),
  v.rawTransform(({ dataset, addIssue, NEVER }): StatementColumns => {
    const columns: Partial<Record<string, string>> = {}
    for (const pair of dataset.value.split(',')) {
      const [, name = '', column = ''] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      const field = SHORT_NAMES[name] ?? name
      const isField = statementFields.some((one) => one === field)
      if (isField && column !== '' && column.length <= COLUMN_MAX && !(field in columns)) {
        columns[field] = column
        continue
      }
      addIssue({ message: 'must be like bank_reference=Ref No,amount=Credit Amt,date=Value Date' })
      return NEVER
    }
    const names = Object.values(columns).map((column) => column?.toLowerCase())
    if (new Set(names).size < names.length) {
      addIssue({ message: 'must not name a column twice' })
      return NEVER
    }
    const hasKey = columns.uuid !== undefined || columns.bank_reference !== undefined
    if (hasKey && columns.amount !== undefined && columns.completed_at !== undefined) return columns
    addIssue({ message: 'must name amount, date, and uuid or bank_reference' })
    return NEVER
  }),
)

/** Of a CSV file without a byte order mark. */
export const StatementEncoding = oneOf(['utf-8', 'utf-16le', 'windows-1252'])
export type StatementEncoding = v.InferOutput<typeof StatementEncoding>

export type StatementFormat = { columns: StatementColumns | null; encoding: StatementEncoding }
