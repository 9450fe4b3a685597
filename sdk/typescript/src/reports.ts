import type { CallOptions } from './transport.ts'
import type { MonthlyStatement, SettlementReport } from './wire.ts'

/** The methods whose result depends on the format. */

export type SettlementReports = {
  /** Returns the lines of a batch and their sums, or the CSV file. @throws NotFoundError */
  (id: string, options?: { format?: 'json' } & CallOptions): Promise<SettlementReport>
  (id: string, options: { format: 'csv' } & CallOptions): Promise<string>
}

export type MonthlyStatements = {
  /** Returns the statement of a month such as 2026-11, a CSV file or a page. @throws NotFoundError */
  (month: string, options?: { format?: 'json' } & CallOptions): Promise<MonthlyStatement>
  (month: string, options: { format: 'csv' | 'html' } & CallOptions): Promise<string>
}
